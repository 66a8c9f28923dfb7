import { readdirSync } from 'node:fs';
import { isAccessible } from '../../core/processes/findProgram.ts';

// Folders that contain programs. Not /run, whose sockets lead to daemons that would start processes outside; not /home, /var, /srv.
const FOLDERS = '/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /sys /nix/store /gnu/store'.split(' ');
// The parts of /etc that programs need: names and addresses, certificates, the loader, time and language, interpreters, fonts,
// accelerators. Not the configurations of services, which contain passwords and keys.
const SETTINGS = [
  /^(?:passwd|group|nsswitch\.conf|hosts|host\.conf|hostname|resolv\.conf|gai\.conf|protocols|services|networks|rpc|machine-id|subuid|subgid)$/,
  /^(?:ssl|pki|ca-certificates(?:\.conf)?|crypto-policies|gnutls|gss|krb5\.conf(?:\.d)?)$/,
  /^(?:ld\.so\..*|alternatives|static|environment-modules|modulefiles|lmod)$/,
  /^(?:localtime|timezone|locale\..*|vconsole\.conf|inputrc|terminfo|.*-release|.*_version|issue|mtab|magic(?:\.mime)?|mime\.types)$/,
  /^(?:profile(?:\.d)?|bash\.?bashrc|bashrc|bash_completion(?:\.d)?|zsh|shells|login\.defs|skel|xdg|gitconfig|pip\.conf|npmrc|gemrc|wgetrc|nanorc|vim)$/,
  /^(?:python.*|perl|java.*|jvm.*|maven|R|julia|ruby.*|php|nodejs|matplotlibrc|jupyter|ipython|ImageMagick.*|fonts|sgml|xml|papersize)$/,
  /^(?:OpenCL|vulkan|glvnd|drirc|egl|cuda.*|nvidia.*|OpenBLAS|openmpi.*|mpich.*|libibverbs\.d|dat\.conf|rocm.*|ucx|X11)$/,
];

/** The existing paths of the system that every isolated job can read. */
export function systemPaths(): readonly string[] {
  return [...FOLDERS, ...settings()].filter(isReadable);
}

function settings(): readonly string[] {
  return namesIn('/etc')
    .filter((name) => SETTINGS.some((pattern) => pattern.test(name)))
    .map((name) => `/etc/${name}`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether jobs may see a path: what the service cannot access, they cannot either. */
export function isReadable(path: string): boolean {
  return isAccessible(path);
}
