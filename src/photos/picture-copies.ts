// SQL of the pictures that listings link from elsewhere: finding and claiming them, and the results of copying.
import { sql } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/duration.ts'
import type { Db, Tx } from '#db/schema.ts'
import { SOLD_OUT } from '#market/records/rules.ts'

/** Listings that one search looks at. */
const SEARCHED_AT_ONCE = 5_000
/** Pictures that one search adds. */
const FOUND_AT_ONCE = 1_000
/** Waiting times after each attempt but the last. */
const RETRY_MS = [10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS]
/** Until the next attempt if the account had no room, or the service no time. */
const POSTPONED_MS = { full: DAY_MS, busy: 10 * MINUTE_MS }
/** After this time, a picture that is still linked is tried again. */
const REMEMBERED_DAYS = 90

export interface PictureCopy {
  id: number
  account_id: number
  url: string
  /** its copy, if another listing had the picture before */
  photo_id: number | null
}

export type CopyProblem = 'missing' | 'failed' | 'slow' | 'unusable'

interface Search {
  afterId: number
  /** what the addresses of this service's photos begin with */
  ours: string
  /** maximum of an account, whose links decide how often this service fetches something */
  max: number
}

/**
 * Adds the pictures of unsold listings after this id that are not photos of this service.
 * @returns the id to continue after; 0 after the last listing
 */
export async function findPictures(db: Db, { afterId, ours, max }: Search, now: Date): Promise<number> {
  const { rows } = await sql<{ last: number | null; count: number }>`
    with searched as (
      select id, seller_id, status, images from listings where id > ${afterId} order by id limit ${SEARCHED_AT_ONCE}
    ), linked as (
      select distinct s.seller_id as account_id, image.url, sha256(convert_to(image.url, 'UTF8')) as url_hash
      from searched s cross join jsonb_to_recordset(s.images) as image(url text)
      where s.status <> ${SOLD_OUT} and image.url ~ '^https?://' and not starts_with(image.url, ${ours})
    ), accounts_full as (
      select account_id from picture_copies where account_id in (select account_id from linked) group by account_id having count(*) >= ${max}
    ), added as (
      insert into picture_copies (account_id, url, url_hash, next_at, created_at)
      select l.account_id, l.url, l.url_hash, ${now}, ${now} from linked l left join picture_copies c using (account_id, url_hash)
      where (c.id is null and l.account_id not in (select account_id from accounts_full)) or (c.next_at is null and c.problem is null)
      order by l.account_id, l.url_hash limit ${FOUND_AT_ONCE}
      on conflict (account_id, url_hash) do update set next_at = excluded.next_at, attempts = 0
        where picture_copies.next_at is null and picture_copies.problem is null
    )
    select max(id) as last, count(*)::int4 as count from searched`.execute(db.kysely)
  const { last, count } = rows[0]!
  return count < SEARCHED_AT_ONCE ? 0 : last!
}

/**
 * Claims up to `limit` pictures that are due, of as many accounts as possible. Each is recorded as failed, with the time of the next
 * attempt, before it is fetched: a picture that ends the process is not fetched for ever.
 */
export async function claimPictures(db: Db, limit: number, now: Date): Promise<PictureCopy[]> {
  const delays = RETRY_MS.map((ms) => new Date(now.getTime() + ms))
  const { rows } = await sql<PictureCopy>`
    update picture_copies set attempts = attempts + 1, problem = 'failed', next_at = (${delays}::timestamptz[])[attempts + 1]
    where next_at <= ${now} and id in (
      select id from (
        select id, next_at, row_number() over (partition by account_id order by next_at, id) as turn
        from picture_copies where next_at <= ${now}
      ) due order by turn, next_at limit ${limit}
    ) returning id, account_id, url, photo_id`.execute(db.kysely)
  return rows
}

export async function recordCopy(tx: Tx, id: number, photoId: number): Promise<void> {
  await tx.updateTable('picture_copies').set({ photo_id: photoId, problem: null, next_at: null }).where('id', '=', id).execute()
}

/** @param isFinal whether further attempts would be pointless */
export async function recordProblem({ kysely }: Db, id: number, problem: CopyProblem, isFinal: boolean): Promise<void> {
  await kysely
    .updateTable('picture_copies')
    .set({ problem, photo_id: null, ...(isFinal && { next_at: null }) })
    .where('id', '=', id)
    .execute()
}

/** Undoes an attempt that failed for a reason other than the picture. */
export async function postponeCopy({ kysely }: Db, id: number, reason: 'full' | 'busy', now: Date): Promise<void> {
  await kysely
    .updateTable('picture_copies')
    .set({
      problem: reason === 'full' ? 'full' : null,
      attempts: sql<number>`attempts - 1`,
      next_at: new Date(now.getTime() + POSTPONED_MS[reason]),
    })
    .where('id', '=', id)
    .execute()
}

/** Deletes the record of a picture that is in no unsold listing. */
export async function forgetPicture({ kysely }: Db, id: number): Promise<void> {
  await kysely.deleteFrom('picture_copies').where('id', '=', id).execute()
}

/** Forgets what was found long ago; links that are still in use are then found again. */
export async function forgetOldPictures({ kysely }: Db, now: Date): Promise<void> {
  await kysely
    .deleteFrom('picture_copies')
    .where('created_at', '<', new Date(now.getTime() - REMEMBERED_DAYS * DAY_MS))
    .execute()
}
