// The vacation of a seller.
import { orNull } from '#core/fields.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import type { Route } from '#http/route.ts'
import { endVacation, getVacation, setVacation, type VacationAnswer, VacationSchema } from '#market/seller/own-vacation.ts'
import type { MarketCtx } from '#market/marketplace-types.ts'

const path = '/plus/vacation'
const tag = 'Listings'

export const vacationRoutes: Route<MarketCtx>[] = [
  {
    method: 'GET',
    path,
    verb: getVacation,
    summary: 'Read your vacation',
    description: '`data` is null if no vacation is set.',
    tag,
    answer: (vacation: VacationAnswer | null) => ({ data: vacation }),
    data: orNull(VacationSchema),
  },
  {
    method: 'PUT',
    path,
    verb: setVacation,
    summary: 'Set or change your vacation',
    description:
      'During the vacation, your listings are hidden from searches and cannot be sold or highlighted, and their publication periods and ' +
      'highlights are paused. Afterwards they are shown again without a new approval. Times are rounded down to the second.',
    tag,
    answer: (vacation: VacationAnswer) => ({ data: vacation, message: 'Vacation saved' }),
    data: VacationSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'DELETE',
    path,
    verb: endVacation,
    summary: 'End your vacation',
    description: 'Ends it now, or cancels it before it starts. Without a vacation, nothing changes.',
    tag,
    answer: ({ message }: { message: MessageText }) => ({ data: undefined, message }),
  },
]
