/** `patchbay slices`: manages computes that register themselves. */
import type { SliceInvitation, SliceObject } from '../src/schema/slice.ts';
import { type CliCommand, CliUsageError, printList, serverOptions, textOption } from './command.ts';

const listCommand: CliCommand = {
  name: 'slices list',
  args: '',
  summary: 'List the computes that registered themselves',
  options: serverOptions,
  examples: [{ line: 'patchbay slices list', does: 'Names, states and reasons' }],
  run: async (call) => {
    const slices = await call.api.json<SliceObject[]>('GET', '/v2/slices');
    printList(call, slices, ['NAME', 'STATE', 'HOST', 'ENGINE', 'REASON'], rowOf);
    return 0;
  },
};

const rowOf = ({ name, state, host, engine, reason }: SliceObject) => [name, state, host ?? '', engine ?? '', reason ?? ''];

const inviteCommand: CliCommand = {
  name: 'slices invite',
  args: '',
  summary: 'Make a token with which one compute may join, once',
  options: {
    name: { value: 'NAME', description: 'Name of the compute' },
    'expires-in': { value: 'SECONDS', description: 'Time in which it must join (default 3600)' },
    ...serverOptions,
  },
  examples: [
    {
      line: 'PATCHBAY_JOIN=$(patchbay slices invite) patchbay compute --join http://10.0.0.1:3080',
      does: 'Join a compute on this machine to the controller at 10.0.0.1; the token is printed alone',
    },
  ],
  run: async (call) => {
    const { api, out } = call;
    const name = textOption(call, 'name');
    const expires = textOption(call, 'expires-in');
    if (expires !== undefined && !/^\d{1,9}$/.test(expires)) throw new CliUsageError('--expires-in takes seconds');
    const body = { ...(name !== undefined && { name }), ...(expires !== undefined && { expires_in: Number(expires) }) };
    const invitation = await api.json<SliceInvitation>('POST', '/v2/slices/invitations', body);
    if (out.isJson) out.json(invitation);
    else {
      out.print(invitation.token);
      out.note(
        `For one compute, ${invitation.name}, until ${invitation.expires_at}: set it as PATCHBAY_JOIN for patchbay compute --join URL`,
      );
    }
    return 0;
  },
};

export const slicesCommands: readonly CliCommand[] = [listCommand, inviteCommand];
