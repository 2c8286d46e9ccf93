// Watches of the account, with which it also maintains its want list.
import { Type } from '#core/input.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { paged, type Route } from '#http/route.ts'
import { deleteWatch, deleteWatches, getWatch, listWatches } from '#watches/own-watches.ts'
import { changeWatch, putWatches } from '#watches/put-watches.ts'
import { MAX_GOAL_WATCHES, MAX_WATCHES, type Watch, WatchSchema, type WatchWriteCtx } from '#watches/watch-types.ts'

const tag = 'Watches'
const path = '/plus/watches'

export const watchRoutes: Route<WatchWriteCtx>[] = [
  {
    path,
    ...paged(listWatches, WatchSchema),
    summary: 'List your watches, newest first',
    description: 'Your want list is `kind=offer_below`.',
    tag,
  },
  {
    method: 'PUT',
    path,
    verb: putWatches,
    summary: 'Create watches, or change their amounts',
    description:
      'One watch or a list of up to 1,000. A watch with the same `kind`, `item_id`, `label` and `language` is replaced; one that is the same already is ' +
      `unchanged. The response lists the watches in the order of the request. An account has at most ${MAX_WATCHES.toLocaleString('en-US')} watches. When ` +
      'a condition is met, `GET /plus/events` has a `watch` event: at most one a day for each watch, and only for trusted prices of markets, or listings ' +
      'of other sellers that are on sale. The next event follows on a later day, if the best price or the cheapest listing is another one by then. A watch ' +
      'of the kind `goal_reopened` has a goal instead of an item, and no amount; it is compared once a day, and its event follows once a set that was ' +
      `complete is so no longer. At most ${MAX_GOAL_WATCHES} of your watches are of this kind.`,
    tag,
    bodyField: 'watches',
    bodyLimit: 512 * 1024,
    answer: (watches: Watch[]) => ({ data: watches, message: watches.length === 1 ? 'Watch saved' : 'Watches saved' }),
    data: Type.Array(WatchSchema),
    errors: ['NOT_FOUND', 'INVALID_JSON', 'PAYLOAD_TOO_LARGE'],
  },
  {
    method: 'DELETE',
    path,
    verb: deleteWatches,
    summary: 'Delete all your watches',
    tag,
    answer: ({ message }: { message: MessageText }) => ({ data: undefined, message }),
  },
  {
    method: 'GET',
    path: `${path}/:id`,
    verb: getWatch,
    summary: 'Read a watch',
    tag,
    answer: (watch: Watch) => ({ data: watch }),
    data: WatchSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'PUT',
    path: `${path}/:id`,
    verb: changeWatch,
    summary: 'Change the amount of a watch',
    description: 'Watches of goals have none.',
    tag,
    answer: (watch: Watch) => ({ data: watch, message: 'Watch saved' }),
    data: WatchSchema,
    errors: ['NOT_FOUND', 'INVALID_JSON'],
  },
  {
    method: 'DELETE',
    path: `${path}/:id`,
    verb: deleteWatch,
    summary: 'Delete a watch',
    tag,
    answer: ({ message }: { message: MessageText }) => ({ data: undefined, message }),
    errors: ['NOT_FOUND'],
  },
]
