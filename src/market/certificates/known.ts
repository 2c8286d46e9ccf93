// What is known of certificates that callers send: the operator's file, records of the seller, and listings that were approved before.
import { sql } from 'kysely'
import { certificateOf, type Certificate, type CertificateBody, normalCert } from '#catalogue/certificates/certificate.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { invalid } from '#core/errors.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { gradeIdOf } from '../references.ts'
import { fileFactsOf } from './history.ts'

/** A certificate's item, and its label or grade of the catalogue as far as they are known. */
export interface KnownCertificate {
  itemId: number
  grade: string
  qualifier: string | null
  /** as the operator's file states it */
  label: string | null
  /** of a record or listing */
  gradeId: number | null
}

/** What is known of certificates, in their order; null for unknown ones. */
export async function knownCertificates(on: Queryable, sellerId: number, bodies: readonly CertificateBody[]): Promise<(KnownCertificate | null)[]> {
  if (bodies.length === 0) return []
  const keys = bodies.map(({ grader, cert }) => ({ grader, cert: normalCert(cert) }))
  const facts = await fileFactsOf(on, keys)
  const carriers = await carriersOf(on, sellerId, keys)
  return facts.map((fact, i) => {
    const carrier = carriers.get(i + 1)
    if (fact) return { itemId: fact.item_id, grade: fact.grade, qualifier: fact.qualifier, label: fact.label, gradeId: null }
    if (!carrier) return null
    const { certificate, item_id: itemId, grade_id: gradeId } = carrier
    return { itemId, grade: certificate.grade, qualifier: certificate.qualifier, label: null, gradeId }
  })
}

interface Carrier {
  n: number
  item_id: number
  grade_id: number | null
  certificate: Certificate
}

/** The newest record of the seller with each certificate, else the newest listing: the seller's own, or one that was approved. */
async function carriersOf(on: Queryable, sellerId: number, keys: readonly { grader: string; cert: string }[]): Promise<Map<number, Carrier>> {
  const { rows } = await sql<Carrier>`
    select k.n::int4 as n, c.item_id, c.grade_id, c.certificate
    from unnest(${keys.map(({ cert }) => cert)}::text[], ${keys.map(({ grader }) => grader)}::text[]) with ordinality as k(cert, grader, n)
    cross join lateral (
      (select r.item_id, r.grade_id, r.certificate, 1 as rank from collection_items r join collections o on o.id = r.collection_id
        where r.certificate->>'cert' = k.cert and r.certificate->>'grader' = k.grader and r.certificate is not null and o.account_id = ${sellerId}
        order by r.id desc limit 1)
      union all
      (select l.item_id, l.grade_id, l.certificate, 2 from listings l
        where l.certificate->>'cert' = k.cert and l.certificate->>'grader' = k.grader and l.certificate is not null
          and (l.seller_id = ${sellerId} or l.approved_at is not null)
        order by l.id desc limit 1)
      order by rank limit 1
    ) c`.execute(on)
  return new Map(rows.map((row) => [row.n, row]))
}

/** The certificate in its stored form; a missing grade and qualifier are those that are known. @throws VALIDATION_ERROR without a grade */
export function completed(body: CertificateBody, known: KnownCertificate | null): Certificate {
  const grade = body.grade ?? known?.grade
  if (grade === undefined) throw invalid('certificate.grade', 'required')
  const qualifier = body.qualifier === undefined && body.grade === undefined ? (known?.qualifier ?? null) : body.qualifier
  return certificateOf({ ...body, grade, qualifier })
}

/** The grade of the catalogue for a certificate: the operator's file decides, then grader and grade, then another carrier; null for none of them. */
export function gradeOf(
  catalogue: Catalogue,
  { grader, grade }: Pick<Certificate, 'grader' | 'grade'>,
  known: KnownCertificate | null,
): number | null {
  const ofFile = known?.label ? gradeIdOf(catalogue, known.label) : null
  return ofFile ?? gradeIdOf(catalogue, `${grader} ${grade}`) ?? known?.gradeId ?? null
}

/** A certificate, or none, as a seller or operator sends it for a listing. @throws VALIDATION_ERROR */
export async function certificateFor(tx: Tx, sellerId: number, body: CertificateBody | null): Promise<Certificate | null> {
  if (body === null) return null
  const [known] = body.grade === undefined ? await knownCertificates(tx, sellerId, [body]) : [null]
  return completed(body, known ?? null)
}
