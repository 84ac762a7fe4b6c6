import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTool } from '../../process/tool.ts';
import { findProgram } from '../host/find-program.ts';
import { currentOptions, retiredOptions } from './check-machine.ts';
import { parseVersion, versionWord } from './version.ts';

const split = (text: string) => text.split(' ').filter((word) => word !== '');

/** QEMU 8, 9 and 10 are not installed here: these follow their documents. */
test('options of old labs are those of each version', () => {
  const old = '-no-acpi --no-hpet -balloon none -localtime -m 64 -no-kvm-irqchip';
  const cases: Readonly<Record<string, string>> = {
    '2.11': old,
    '3.0': '-no-acpi --no-hpet -balloon none -localtime -m 64 -machine kernel_irqchip=off',
    '7.2.22': '-no-acpi --no-hpet -rtc base=localtime -m 64 -machine kernel_irqchip=off',
    '8.2.2': '-no-acpi --no-hpet -rtc base=localtime -m 64 -machine kernel_irqchip=off',
    '9.0.0': '-machine acpi=off -machine hpet=off -rtc base=localtime -m 64 -machine kernel_irqchip=off',
    '10.0.2': '-machine acpi=off -machine hpet=off -rtc base=localtime -m 64 -machine kernel_irqchip=off',
  };
  for (const [version, current] of Object.entries(cases))
    assert.deepEqual(currentOptions(split(old), parseVersion(version)), split(current), version);
  const others = ['-cpu', 'no-acpi', '-balloon', 'other', '-realtime', 'mlock=on', '-__proto__', '-', ''];
  assert.deepEqual(currentOptions(others, [10, 0]), others);
});

const program = await findProgram('qemu-system-x86_64');

test('the QEMU of this host has each replacement, and none of what it replaces', {
  skip: program === undefined && 'qemu-system-x86_64 is not installed',
}, async () => {
  // QEMU prints its version when it comes to that option, and has refused options that it does not know before.
  const print = (words: readonly string[]) => runTool(program ?? '', [...words, '-version'], { timeoutMs: 30_000 });
  const version = parseVersion(versionWord((await print([])).stdout) ?? '');
  for (const [name, rows] of Object.entries(retiredOptions)) {
    for (const { value } of rows) {
      const old = [`-${name}`, ...(value === undefined ? [] : [value])];
      const current = currentOptions(old, version);
      assert.equal((await print(current)).code, 0, current.join(' '));
      if (current.join() !== old.join()) assert.notEqual((await print(old)).code, 0, old.join(' '));
    }
  }
});
