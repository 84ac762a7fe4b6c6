/** A container with an SSH server: Debian's dropbear. Its root has the password below. */
import type { ImageRecipe } from '../../demo/containers/recipes.ts';

export const sshPassword = 'Kranich-47';
/** `openssl passwd -6 -salt patchbay` of it. */
const hash = '$6$patchbay$ND2RJlzJlsJk3qw.d4tj1c7UJjnfiMdMbvDprlYremEJVMlqJ7h0l88lRzPUuB5RGPID5724BJT5SDGJTbp9M0';

/** The host key is made at the start; the server ends with its container. */
export const sshdRecipe: ImageRecipe = {
  name: 'patchbay-test-sshd',
  packages: ['dropbear-bin', 'busybox-static', 'iproute2'],
  programs: ['usr/sbin/dropbear', 'usr/bin/dropbearkey', 'bin/ip'],
  optional: [],
  files: {
    'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n',
    'etc/group': 'root:x:0:\n',
    'etc/shadow': `root:${hash}:19000:0:99999:7:::\n`,
    'sbin/start-sshd': [
      '#!/bin/sh',
      'mkdir -p /etc/dropbear /root/.ssh /run',
      'dropbearkey -t ed25519 -f /etc/dropbear/dropbear_ed25519_host_key',
      'dropbear -E -r /etc/dropbear/dropbear_ed25519_host_key -p 22',
      'exec /bin/sh',
      '',
    ].join('\n'),
  },
  command: '/sbin/start-sshd',
};
