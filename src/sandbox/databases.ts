// The databases of sandboxes on the server of the service: the template, and one for each sandbox, copied from it.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { conflict } from '#core/errors.ts'
import { delay } from '#core/process/time-and-chance.ts'
import { openPool } from '#db/connection/pool.ts'
import { migrate } from '#db/migrate.ts'
import type { Db, Schema } from '#db/schema.ts'

/** `database_being_used` by another connection, such as one that is about to end. */
const IN_USE = '55006'
const NOT_ALLOWED = '42501'
const MISSING = '3D000'
const RETRY_MS = 200
const RETRIES = 25
/** A sandbox has few requests at a time. */
const CONNECTIONS = 3

/** Fills a new, migrated database with what every sandbox starts from. */
export type FillTemplate = (db: Db) => Promise<void>

export interface DatabasesOptions {
  /** the service's own database */
  db: Db
  /** an address for statements that a pooler does not pass on; null: that of `db` */
  directUrl: string | null
  /** changes with what a template contains */
  templateVersion: () => string
  fill: FillTemplate
}

export interface DatabaseName {
  id: number
  generation: number
}

/** Creates, opens and drops the databases of sandboxes. */
export class SandboxDatabases {
  readonly #options: DatabasesOptions
  #prefix: Promise<string> | null = null
  #version: string | null = null

  constructor(options: DatabasesOptions) {
    this.#options = options
  }

  /**
   * Creates the database of a sandbox as a copy of the template, which the first call makes.
   * @throws CONFLICT if the role may not create databases
   */
  async create(name: DatabaseName): Promise<void> {
    try {
      const database = await this.#nameOf(name)
      await this.#execute(`drop database if exists ${database} with (force)`)
      const copy = async () => this.#execute(`create database ${database} template ${await this.#template()}`)
      // A node of another release may have dropped the template meanwhile.
      await copy().catch((error: unknown) => (isMissingDatabase(error) ? copy() : Promise.reject(error)))
    } catch (error) {
      if (codeOf(error) === NOT_ALLOWED) throw conflict('sandbox_role')
      throw error
    }
  }

  /** Also ends the connections of other nodes. */
  async drop(name: DatabaseName): Promise<void> {
    await this.#execute(`drop database if exists ${await this.#nameOf(name)} with (force)`)
  }

  /** Opens a sandbox's database. */
  async open(name: DatabaseName): Promise<Db> {
    const url = await this.#urlOf(await this.#nameOf(name))
    return openPool<Schema>({ url, max: CONNECTIONS, applicationName: 'mintmark sandbox' })
  }

  /**
   * Drops databases that belong to no sandbox, and templates of other releases.
   * @param usedNow is called after the databases were listed: a sandbox has its row before its database
   * @returns how many were dropped
   */
  async dropOthers(usedNow: () => Promise<readonly DatabaseName[]>): Promise<number> {
    const prefix = await (this.#prefix ??= this.#findPrefix())
    const template = await this.#templateName()
    const { rows } = await this.#options.db.pool.query<{ datname: string }>('select datname from pg_database where starts_with(datname, $1)', [
      prefix,
    ])
    const generations = new Map((await usedNow()).map(({ id, generation }) => [id, generation]))
    const others = rows.filter(({ datname }) => {
      const [, id, generation] = /^(\d+)_(\d+)$/.exec(datname.slice(prefix.length)) ?? []
      if (id === undefined) return !datname.startsWith(template)
      // A higher one is that of a reset in progress.
      return !(Number(generation) >= (generations.get(Number(id)) ?? Infinity))
    })
    for (const { datname } of others) await this.#execute(`drop database if exists "${datname.replaceAll('"', '""')}" with (force)`)
    return others.length
  }

  async #template(): Promise<string> {
    const name = await this.#templateName()
    if (await this.#exists(name)) return name
    const client = await this.#options.db.connect()
    try {
      // The lock ends with the connection, also if this process dies.
      await client.query('select pg_advisory_lock(hashtext($1))', [name])
      if (!(await this.#exists(name))) await this.#makeTemplate(name)
    } finally {
      client.release(true)
    }
    return name
  }

  /** The name exists only once the template is complete. */
  async #makeTemplate(name: string): Promise<void> {
    const draft = `${name}_draft`
    await this.#execute(`drop database if exists ${draft} with (force)`)
    await this.#execute(`create database ${draft} template template0 ${await this.#locale()}`)
    const db = openPool<Schema>({ url: await this.#urlOf(draft), max: CONNECTIONS, applicationName: 'mintmark sandbox' })
    try {
      await migrate(db)
      await this.#options.fill(db)
    } finally {
      await db.close()
    }
    await this.#execute(`alter database ${draft} rename to ${name}`)
  }

  /** As the service's own database, which need not be the server's default. */
  async #locale(): Promise<string> {
    const { rows } = await this.#options.db.pool.query<{ clause: string }>(`
      select format('encoding %L lc_collate %L lc_ctype %L', pg_encoding_to_char(encoding), datcollate, datctype) as clause
      from pg_database where datname = current_database()`)
    return rows[0]!.clause
  }

  async #exists(name: string): Promise<boolean> {
    const { rowCount } = await this.#options.db.pool.query('select from pg_database where datname = $1', [name])
    return rowCount! > 0
  }

  /** Databases are not created in transactions, and a database that somebody is just leaving cannot be copied or renamed. */
  async #execute(statement: string): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#options.db.pool.query(statement)
        return
      } catch (error) {
        if (codeOf(error) !== IN_USE || attempt >= RETRIES) throw error
        await delay(RETRY_MS)
      }
    }
  }

  async #nameOf({ id, generation }: DatabaseName): Promise<string> {
    return `${await (this.#prefix ??= this.#findPrefix())}${id}_${generation}`
  }

  async #templateName(): Promise<string> {
    return `${await (this.#prefix ??= this.#findPrefix())}template_${(this.#version ??= this.#options.templateVersion())}`
  }

  /** By the name of the service's database: several services may share a server, and a copy of a service has sandboxes of its own. */
  async #findPrefix(): Promise<string> {
    const { rows } = await this.#options.db.pool.query<{ name: string }>('select current_database() as name')
    return `mintmark_sandbox_${createHash('sha256').update(rows[0]!.name).digest('hex').slice(0, 8)}_`
  }

  async #urlOf(database: string): Promise<string> {
    return withDatabase(this.#options.directUrl ?? this.#options.db.url, database)
  }
}

/** The address of another database of the same server, for the same role. */
export function withDatabase(url: string, database: string): string {
  return url.replace(/^(\w+:\/\/[^/?#]*)(\/[^?#]*)?/, `$1/${database}`)
}

/** Whether an error says that a database does not exist. */
export function isMissingDatabase(error: unknown): boolean {
  return codeOf(error) === MISSING
}

function codeOf(error: unknown): string {
  return error instanceof Error ? String((error as Partial<pg.DatabaseError>).code ?? '') : ''
}
