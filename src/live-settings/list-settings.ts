// Lists the settings that operators can change, each with its value and where that comes from.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { Queryable, Schema } from '#db/schema.ts'
import { CHANGEABLE_NAMES, type ChangeableName } from '#settings.ts'
import type { Selectable } from 'kysely'
import type { Config } from '#config.ts'
import { CHANGEABLE, SETTING_KINDS } from './changeable.ts'
import { givenText } from './live-config.ts'

const ORIGINS = namedValues('SettingOrigin', ['default', 'environment', 'console'])

export const SettingSchema = Type.Object(
  {
    name: Type.Enum([...CHANGEABLE_NAMES], { description: 'Name of the environment variable with the same meaning' }),
    about: Type.String(),
    kind: Type.Enum([...SETTING_KINDS]),
    min: orNull(Type.Number({ description: 'Smallest allowed number; null for other kinds' })),
    max: orNull(Type.Number({ description: 'Largest allowed number; null for other kinds' })),
    value: Type.String({ description: 'In the notation of the environment variable' }),
    default: Type.String(),
    environment: orNull(Type.String({ description: 'Value of the environment variable of the responding node; null if it is not set' })),
    origin: Type.Enum([...ORIGINS], { description: 'Where the value comes from: `console` stands for any change by an operator' }),
    undo_to: orNull(Type.String({ description: 'Value that undoing the last change restores; null if there is none to undo' })),
    changed_by: orNull(Type.String()),
    changed_at: orNull(Type.String({ format: 'date-time', description: 'UTC' })),
    etag: Type.String({ description: 'Version, for `If-Match`' }),
  },
  { title: 'Setting' },
)
export type Setting = Static<typeof SettingSchema>

type StoredSetting = Selectable<Schema['service_settings']>

/** The context of reading settings. */
export interface SettingsCtx extends ReadCtx {
  config: Config
}

export const listSettings = verb(
  { name: 'listSettings', needs: 'operator', input: Type.Object({}) },
  async ({ db, config }: SettingsCtx): Promise<Setting[]> => {
    const stored = new Map((await storedSettings(db.kysely)).map((row) => [row.name, row]))
    return CHANGEABLE_NAMES.map((name) => settingOf(config, name, stored.get(name)))
  },
)

function storedSettings(on: Queryable): Promise<StoredSetting[]> {
  return on.selectFrom('service_settings').selectAll().execute()
}

/** The entity tag of a setting; one that was never changed has a version, too. */
export function tagOf(row: Pick<StoredSetting, 'version'> | undefined): string {
  return `"${row?.version ?? 0}"`
}

/** @param row undefined if it was never changed */
export function settingOf(config: Config, name: ChangeableName, row: StoredSetting | undefined): Setting {
  const { kind, about, range, fallback, normal } = CHANGEABLE[name]
  const environment = config.environment[name]
  const given = givenText(config, name)
  const value = row?.value ?? null
  return {
    name,
    about,
    kind,
    min: range?.min ?? null,
    max: range?.max ?? null,
    value: value ?? given,
    default: fallback,
    environment: environment === undefined ? null : normal(environment),
    origin: value !== null ? 'console' : environment === undefined ? 'default' : 'environment',
    undo_to: row ? (row.previous ?? given) : null,
    changed_by: row?.author ?? null,
    changed_at: row?.changed_at.toISOString() ?? null,
    etag: tagOf(row),
  }
}
