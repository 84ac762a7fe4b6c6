import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BpfCompiler } from '../../fabric/bpf-compile.ts';
import { checkChange, checkNio } from './nio.ts';

const given = { type: 'nio_udp', lport: 10_001, rhost: '127.0.0.1', rport: 10_002 } as const;

it('a change without filters keeps them with their programs: nothing is checked or compiled again', async () => {
  // The program that accepts every frame, as tcpdump prints it: tcpdump itself may be missing here.
  const printed = new BpfCompiler(async () => ({ program: 'printf', args: ['1\\n6 0 0 262144\\n'] }));
  const missing = new BpfCompiler(() => Promise.reject(new Error('it compiled again')));
  const checks = { nodeType: 'vpcs', streams: true };
  const filters = { bpf_ab: ['icmp'], delay: [10], jitter: [1, 'normal'] };
  const before = await checkNio({ ...given, filters }, { ...checks, compiler: printed });
  assert.deepEqual(before.bpf_ab, [[[6, 0, 0, 262_144]]]);
  assert.deepEqual(before.filters.jitter, ['normal', 1]);
  const after = await checkChange({ ...given, suspend: true }, before, { ...checks, compiler: missing });
  assert.deepEqual(after, { ...before, suspend: true });
  const none = await checkChange({ ...given, filters: {} }, after, { ...checks, compiler: missing });
  assert.deepEqual([none.filters, none.bpf_ab, none.suspend], [{}, undefined, true]);
});
