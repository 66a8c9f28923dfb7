import type { Place } from '../campaign.ts';
import { agents } from './agents.ts';
import { folderIndex } from './folderIndex.ts';
import { ledger } from './ledger.ts';
import { results } from './results.ts';
import { service } from './service.ts';
import { spool } from './spool.ts';
import { tunnel } from './tunnel.ts';
import { uploads } from './uploads.ts';

export const PLACES: readonly Place[] = [results, ledger, spool, uploads, folderIndex, service, tunnel, agents];
