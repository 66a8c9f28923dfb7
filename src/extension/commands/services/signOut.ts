import { signOut as signOutOf } from '../../services/signOut.ts';
import type { Command } from '../command.ts';

/** Signs out of the selected host. */
export const signOut: Command = ({ services }) => signOutOf(services, services.hosts.current());
