import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { LOG_LEVELS } from '../../core/log.ts';
import { insideSettings } from './insideConfig.ts';
import { limitsSettings } from './limitsConfig.ts';
import { oidcSettings } from './oidcConfig.ts';
import { volumesSettings } from './volumesConfig.ts';

const REMOVED_LOG_SETTINGS = ['max_mb', 'keep'];
const HOW_TO_ROTATE =
  'max_mb and keep are no longer settings, because the service does not rotate its log. Remove them and let logrotate do it: docs/service/monitoring.md has an example under "Log"';

export const absolutePath = z.string().refine(isAbsolute, 'must be an absolute path');
const days = z.number().positive();

const logSettings = z.strictObject(
  {
    format: z.enum(['text', 'json']).default('text'),
    level: z.enum(LOG_LEVELS).default('info'),
    /** Default: standard error, which systemd stores in its journal. */
    file: absolutePath.optional(),
    /** Whether each request gets a line. */
    requests: z.boolean().default(true),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' && REMOVED_LOG_SETTINGS.some((name) => issue.keys.includes(name))
        ? HOW_TO_ROTATE
        : undefined,
  },
);
export type LogSettings = z.infer<typeof logSettings>;

/** Whose `X-Forwarded-For` is trusted; nobody's without this section. */
const proxySettings = z.strictObject({
  /** The addresses that the proxy connects from. */
  addresses: z
    .array(z.string().refine((address) => isIP(address) !== 0, 'must be an IP address'))
    .min(1)
    .default(['127.0.0.1', '::1']),
});
export type ProxySettings = z.infer<typeof proxySettings>;

/** A proxy on this machine. */
export const DEFAULT_PROXY: ProxySettings = proxySettings.parse({});

export const retentionSettings = z
  .strictObject({
    /** Days from the end of a job until its log is deleted; default: never. Its row and its credits stay. */
    days: days.optional(),
    /** The same for its results; default: `days`. */
    results_days: days.optional(),
    /** The results of all jobs together, of which the oldest are deleted first; default: no limit. */
    max_total_gb: z.number().positive().optional(),
    /** Below this much free space submissions are refused, so that running jobs can finish. */
    min_free_gb: z.number().min(0).default(1),
  })
  .refine(({ days: log, results_days: results }) => log === undefined || results === undefined || results <= log, {
    path: ['results_days'],
    message: 'must not be more than days',
  });
export type RetentionSettings = z.infer<typeof retentionSettings>;

/** PEM files; the certificate includes its chain. */
const tlsSettings = z.strictObject({ cert: absolutePath, key: absolutePath });
export type TlsSettings = z.infer<typeof tlsSettings>;

/** The sections of every configuration, whatever runs the jobs. */
export const sections = {
  /** What clients may do inside running jobs. */
  inside: insideSettings.prefault({}),
  limits: limitsSettings.prefault({}),
  log: logSettings.prefault({}),
  /** The output of jobs. */
  logs: z
    .strictObject({
      /** How much of one job's output is stored, as stored; its end is stored in addition. */
      max_mb_per_job: z.number().min(0.1).max(10_000).default(64),
    })
    .prefault({}),
  metrics: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** Required as `Authorization: Bearer <token>`; without it, programs on this machine can read the metrics. */
      token: z.string().min(16).regex(/^\S*$/, 'must not contain spaces').optional(),
    })
    .prefault({}),
  oidc: oidcSettings.optional(),
  /** Of accounts, for their jobs. */
  secrets: z
    .strictObject({
      /** The file with the key that encrypts them; default: `secrets.key` in the data folder. */
      key_file: absolutePath.optional(),
    })
    .prefault({}),
  /** The page for browsers at `/`. */
  page: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
  proxy: proxySettings.optional(),
  retention: retentionSettings.prefault({}),
  tls: tlsSettings.optional(),
  /** Folders that jobs can have besides their own. */
  volumes: volumesSettings,
};
