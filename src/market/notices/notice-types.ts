// Notices of infringement as operators see them.
import type { Config } from '#config.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'

export const NOTICE_STATES = namedValues('NoticeState', ['received', 'hidden', 'kept'])

export const NoticeSchema = Type.Object(
  {
    id: Type.Integer(),
    listing: orNull(Type.Integer(), { description: 'Id of the listing; null if it was deleted' }),
    title: orNull(Type.String(), { description: 'Its current title' }),
    listing_status: orNull(Type.String()),
    seller_id: Type.Integer(),
    who: Type.String({ description: 'Who gave notice' }),
    right: Type.String({ description: 'The right that they claim' }),
    evidence: Type.String(),
    state: Type.Enum(NOTICE_STATES),
    received_at: Type.String({ format: 'date-time', description: 'UTC' }),
    due_at: Type.String({ format: 'date-time', description: 'Until when it must be decided' }),
    overdue: Type.Boolean(),
    note: orNull(Type.String({ description: 'Reason of the decision' })),
    decided_at: orNull(Type.String({ format: 'date-time' })),
    decided_by: orNull(Type.String()),
  },
  { title: 'Notice' },
)
export type Notice = Static<typeof NoticeSchema>

export type NoticeCtx = MarketWriteCtx & { config: Pick<Config, 'noticeHours'> }
