import * as z from 'zod';
import { AppError } from '../../../core/errors.ts';
import { adminTime, operation } from './operation.ts';

export const pageOperations = {
  /** A link that opens the operator's page once. The audit trail records who requested it, but not the link. */
  'page.link': operation({
    input: z.object({}),
    output: z.object({ url: z.string(), expires_at: adminTime }),
    audit: { target: () => ({}), state: () => null },
    run({ page }) {
      if (page === undefined) {
        const message =
          'No service with a page is running on this data folder. Start it, and check that its configuration does not set enabled = false in [page].';
        throw new AppError('conflict', message);
      }
      const { code, lifeMs } = page.links.create();
      return { url: `${page.url()}/operator?code=${code}`, expires_at: new Date(Date.now() + lifeMs).toISOString() };
    },
  }),
};
