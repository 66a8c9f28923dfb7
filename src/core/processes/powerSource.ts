import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type PowerSource = 'battery' | 'mains';

const TIMEOUT_MS = 10_000;
// PowerStatus of .NET: https://learn.microsoft.com/dotnet/api/system.windows.forms.powerstatus
const WINDOWS_SCRIPT =
  'Add-Type -AssemblyName System.Windows.Forms; [System.Windows.Forms.SystemInformation]::PowerStatus.PowerLineStatus';

/**
 * The power source of this machine. Without a battery, or if unknown, it is `mains`. On macOS and Windows this starts a program, which
 * takes half a second of processor time on Windows.
 *
 * @param supplies the kernel's folder with power supplies on Linux:
 * https://www.kernel.org/doc/Documentation/ABI/testing/sysfs-class-power
 * @param platform for tests; this system by default.
 */
export async function readPowerSource(
  supplies = '/sys/class/power_supply',
  platform: string = process.platform,
): Promise<PowerSource> {
  try {
    if (platform === 'linux') return await readSupplies(supplies);
    if (platform === 'darwin')
      return (await run('pmset', ['-g', 'batt'])).includes("'Battery Power'") ? 'battery' : 'mains';
    if (platform === 'win32') {
      const status = await run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', WINDOWS_SCRIPT]);
      return status.trim() === 'Offline' ? 'battery' : 'mains';
    }
  } catch {
    // An unknown power source must not delay anything.
  }
  return 'mains';
}

/** `battery` if a system battery discharges and no line supplies power. Batteries of mice or phones do not count. */
async function readSupplies(folder: string): Promise<PowerSource> {
  const read = async (name: string, file: string): Promise<string> =>
    (await readFile(join(folder, name, file), 'utf8').catch(() => '')).trim();
  let isDischarging = false;
  for (const name of await readdir(folder)) {
    const type = await read(name, 'type');
    if (type === 'Battery') {
      isDischarging ||= (await read(name, 'status')) === 'Discharging' && (await read(name, 'scope')) !== 'Device';
    } else if ((await read(name, 'online')) === '1') {
      return 'mains';
    }
  }
  return isDischarging ? 'battery' : 'mains';
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { timeout: TIMEOUT_MS, windowsHide: true });
  return stdout;
}
