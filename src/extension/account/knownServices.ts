import { LOCAL_HOST, machineOfHost } from '../../jobs/service/host.ts';

/**
 * The services to choose from: those used before, the last one first, and before them the selected one, which may come from the settings
 * or the environment alone.
 *
 * @param current the selected host; undefined if it cannot be used.
 */
export function knownServices(recent: readonly string[], current: string | undefined): readonly string[] {
  const isService = current !== undefined && current !== LOCAL_HOST && machineOfHost(current) === undefined;
  return isService && !recent.includes(current) ? [current, ...recent] : recent;
}
