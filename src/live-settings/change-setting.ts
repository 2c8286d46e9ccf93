// Changes a setting while the service runs, and undoes the last change.
import { sql } from 'kysely'
import { conflict, invalid } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { currencies } from '#core/settings/readers.ts'
import { type HasPrecondition, requireCurrent } from '#core/precondition.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { CHANGEABLE_NAMES, type ChangeableName } from '#settings.ts'
import type { Config } from '#config.ts'
import { CHANGEABLE } from './changeable.ts'
import { type Setting, settingOf, tagOf } from './list-settings.ts'
import { givenText } from './live-config.ts'

export interface SettingsWriteCtx extends WriteCtx, HasPrecondition {
  config: Config
}

const MAX_TEXT_LENGTH = 1_000
const Name = Type.Enum([...CHANGEABLE_NAMES])

/** All nodes use the new value within a second. */
export const changeSetting = verb(
  {
    name: 'changeSetting',
    needs: 'owner',
    input: Type.Object({
      name: Name,
      value: orNull(
        Type.String({
          maxLength: MAX_TEXT_LENGTH,
          description: 'In the notation of the environment variable; null returns to the environment or the default',
        }),
      ),
    }),
  },
  (ctx: SettingsWriteCtx, { name, value }): Promise<Setting> => write(ctx, name, () => (value === null ? null : valid(name, value.trim()))),
)

/** Restores the value before the last change; undoing twice changes nothing. */
export const undoSetting = verb(
  { name: 'undoSetting', needs: 'owner', input: Type.Object({ name: Name }) },
  (ctx: SettingsWriteCtx, { name }): Promise<Setting> =>
    write(ctx, name, (row) => {
      if (!row) throw conflict('setting_unchanged')
      return row.previous
    }),
)

/** @param next returns the text to store, from the stored row */
function write(ctx: SettingsWriteCtx, name: ChangeableName, next: (row: { previous: string | null } | undefined) => string | null): Promise<Setting> {
  const { config } = ctx
  return change(ctx, async (tx, note) => {
    // The row may not exist yet, so writers of a setting wait for each other by its name.
    await sql`select pg_advisory_xact_lock(hashtext(${`setting ${name}`}))`.execute(tx)
    const row = await tx.selectFrom('service_settings').selectAll().where('name', '=', name).executeTakeFirst()
    requireCurrent(ctx, tagOf(row))
    const value = next(row)
    const before = row?.value ?? null
    if (value === before) return settingOf(config, name, row)
    if (name === 'SOURCE_CURRENCIES') await refuseCurrenciesInUse(tx, before ?? givenText(config, name), value ?? givenText(config, name))
    const stored = { value, previous: before, version: (row?.version ?? 0) + 1, author: actorOf(ctx.viewer), changed_at: ctx.now() }
    const after = await tx
      .insertInto('service_settings')
      .values({ name, ...stored })
      .onConflict((on) => on.column('name').doUpdateSet(stored))
      .returningAll()
      .executeTakeFirstOrThrow()
    note.audit({ action: 'setting.change', subject: 'setting', id: name, before: { value: before }, after: { value } })
    note.changed('settings', [CHANGEABLE_NAMES.indexOf(name)])
    return settingOf(config, name, after)
  })
}

/** The text in its usual notation. */
function valid(name: ChangeableName, text: string): string {
  const { kind, range, normal } = CHANGEABLE[name]
  try {
    return normal(text)
  } catch {
    if (range) throw invalid('value', kind === 'integer' ? 'integer' : 'number', range)
    throw invalid('value', kind as Exclude<typeof kind, 'integer' | 'decimal'>)
  }
}

/** Stored prices are amounts without a currency: another one would change what they mean. */
async function refuseCurrenciesInUse(tx: Tx, before: string, after: string): Promise<void> {
  const [was, will] = [currencies(before), currencies(after)]
  for (const [position, market] of MARKETS.entries()) {
    if (was[market] === will[market]) continue
    const { rows } = await sql<{ count: number }>`select count(*)::int4 as count from prices where market = ${position}`.execute(tx)
    if (rows[0]!.count > 0) throw conflict('currency_in_use', { market, count: rows[0]!.count, currency: was[market] })
  }
}
