import type { Context } from '../command/context.ts';
import type { AdminFlags } from './adminFlags.ts';
import { askAdmin } from './adminService.ts';

/** `farwharf admin page`. JSON: `{ url, expires_at }`. */
export async function linkPage(context: Context, _: string, flags: AdminFlags): Promise<void> {
  const { terminal } = context;
  const link = await askAdmin(context, flags, 'page.link', {});
  if (link === undefined) return;
  terminal.answer(link.url);
  terminal.note(`Opens the operator's page in a browser, once, until ${link.expires_at.slice(11, 16)} UTC.`);
  terminal.note('Behind a proxy or a tunnel, replace the beginning with the address that your browser uses.');
}
