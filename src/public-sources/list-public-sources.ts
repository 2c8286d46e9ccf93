// Lists the public sources that can be fetched, with their licences and the state of each one's last fetch.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { DAY_MS } from '#core/duration.ts'
import { namedValues } from '#core/named-values.ts'
import { notFound } from '#core/errors.ts'
import { verb } from '#core/verb.ts'
import { gameName } from '#games/games.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import type { FetchedFile } from './download-file.ts'
import type { FetchProgress } from './fetch-files.ts'
import { PUBLIC_SOURCES, type PublicSource } from './sources.ts'

const STATES = namedValues('FetchState', ['never', 'downloading', 'importing', 'done', 'failed'])

const time = (description: string) => orNull(Type.String({ format: 'date-time' }), { description })

export const PublicSourceSchema = Type.Object(
  {
    name: Type.String({ examples: ['pokemontcg'] }),
    title: Type.String({ description: 'Name as people know it' }),
    game: Type.String({ description: 'Slug of the game' }),
    game_name: Type.String({ description: 'Name of the game' }),
    format: Type.String({ description: 'Import format of its files' }),
    website: Type.String(),
    licence: Type.String({ description: 'Licence or terms of use, as the source states them' }),
    terms_url: Type.String({ description: 'Where the source states them' }),
    note: orNull(Type.String(), { description: 'What the files contain or lack' }),
    state: Type.Enum([...STATES], { description: 'State of the last fetch' }),
    started_at: time('When the last fetch started'),
    finished_at: time('When the last fetch ended; its import may still be running'),
    checked_at: time('When the source was last found to be unchanged, or was downloaded'),
    fetched_at: time('When files were last downloaded that differ from the ones before'),
    age_days: orNull(Type.Integer(), { description: 'Days since `checked_at`' }),
    progress: orNull(
      Type.Object(
        {
          file: orNull(Type.String(), { description: 'File that is being downloaded' }),
          files_done: Type.Integer(),
          files_total: Type.Integer({ description: '0 until the files are known' }),
          bytes: Type.Integer({ description: 'Bytes of the current file' }),
          bytes_total: orNull(Type.Integer(), { description: 'Null if the source does not state it' }),
        },
        { title: 'FetchProgress' },
      ),
      { description: 'Progress of a running download' },
    ),
    files: Type.Integer({ description: 'Number of files of the last successful download' }),
    bytes: Type.Integer({ description: 'Their total size' }),
    import_id: orNull(Type.Integer(), { description: 'Import of these files' }),
    failure: orNull(
      Type.Object(
        {
          message: Type.String(),
          rule: orNull(Type.String()),
          params: orNull(Type.Record(Type.String(), Type.Unknown())),
        },
        { title: 'FetchFailure' },
      ),
      { description: 'Why the last fetch or its import failed' },
    ),
  },
  { title: 'PublicSource' },
)
export type ListedSource = Static<typeof PublicSourceSchema>

type SourcesCtx = Pick<WriteCtx, 'db' | 'viewer' | 'now'>

export const listPublicSources = verb({ name: 'listPublicSources', needs: 'operator', input: Type.Object({}) }, (ctx: SourcesCtx) =>
  publicSources(ctx),
)

/** The source of this name. @throws NOT_FOUND with the existing names */
export function publicSource(name: string): PublicSource {
  const source = PUBLIC_SOURCES.find((listed) => listed.name === name)
  if (source) return source
  throw notFound('no_source', { name, values: PUBLIC_SOURCES.map((listed) => listed.name) })
}

/** The state of the sources, in the order of their list. */
export async function publicSources({ db, now }: Pick<SourcesCtx, 'db' | 'now'>): Promise<ListedSource[]> {
  const rows = await db.kysely
    .selectFrom('source_fetches as f')
    .leftJoin('imports as i', 'i.id', 'f.import_id')
    .selectAll('f')
    .select(['i.status as import_status', 'i.rule as import_rule', 'i.params as import_params', 'i.message as import_message'])
    .execute()
  const stored = new Map(rows.map((row) => [row.source, row]))
  return PUBLIC_SOURCES.map((source) => listed(source, stored.get(source.name), now()))
}

interface StoredFetch {
  status: string
  started_at: Date
  finished_at: Date | null
  checked_at: Date | null
  fetched_at: Date | null
  progress: unknown
  files: unknown
  import_id: number | null
  rule: string | null
  params: object | null
  message: string | null
  import_status: string | null
  import_rule: string | null
  import_params: object | null
  import_message: string | null
}

function listed(
  { name, title, game, format, website, licence, termsUrl, note }: PublicSource,
  row: StoredFetch | undefined,
  now: Date,
): ListedSource {
  const files = (row?.files ?? []) as FetchedFile[]
  const iso = (at: Date | null | undefined) => at?.toISOString() ?? null
  return {
    name,
    title,
    game,
    game_name: gameName(game),
    format,
    website,
    licence,
    terms_url: termsUrl,
    note,
    state: stateOf(row),
    started_at: iso(row?.started_at),
    finished_at: iso(row?.finished_at),
    checked_at: iso(row?.checked_at),
    fetched_at: iso(row?.fetched_at),
    age_days: row?.checked_at ? Math.max(0, Math.floor((now.getTime() - row.checked_at.getTime()) / DAY_MS)) : null,
    progress: (row?.progress as FetchProgress | null | undefined) ?? null,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    import_id: row?.import_id ?? null,
    failure: failureOf(row),
  }
}

function stateOf(row: StoredFetch | undefined): ListedSource['state'] {
  if (!row) return 'never'
  if (row.status !== 'done') return row.status as 'downloading' | 'failed'
  if (row.import_status === 'queued' || row.import_status === 'running') return 'importing'
  return row.import_status === 'failed' ? 'failed' : 'done'
}

function failureOf(row: StoredFetch | undefined): ListedSource['failure'] {
  if (row?.status === 'failed') return { message: row.message ?? '', rule: row.rule, params: paramsOf(row.params) }
  if (row?.status !== 'done' || row.import_status !== 'failed') return null
  return { message: row.import_message ?? '', rule: row.import_rule, params: paramsOf(row.import_params) }
}

function paramsOf(params: object | null): Record<string, unknown> | null {
  return params as Record<string, unknown> | null
}
