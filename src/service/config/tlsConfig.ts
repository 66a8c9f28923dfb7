import { isAbsolute } from 'node:path';
import * as z from 'zod';

const path = z.string().refine(isAbsolute, 'must be an absolute path');

/** The section `[tls]` of the configuration: PEM files, the certificate with its chain. */
export const tlsSettings = z.strictObject({ cert: path, key: path });
export type TlsSettings = z.infer<typeof tlsSettings>;
