// One certificate as operators see it: the file's facts, who offered and sold the copy, and how often it is carried.
import { certNumber, grader, normalCert } from '#catalogue/certificates/certificate.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { CertificateEventSchema, CertificateFactsSchema, fileFactsOf, wholeHistory } from './history.ts'

/** Listings and sales in an answer, the newest of each. */
const MAX_SHOWN = 100

export const StoredCertificateSchema = Type.Object(
  {
    grader: Type.String(),
    cert: Type.String({ description: 'As it is stored' }),
    known: orNull(CertificateFactsSchema, { description: "What the operator's file says; null if it does not have the certificate" }),
    listings: Type.Integer({ description: 'Listings that carry it, in any status' }),
    sales: Type.Integer({ description: 'Sales of it, including cancelled ones' }),
    records: Type.Integer({ description: 'Collection records that carry it' }),
    history: Type.Array(CertificateEventSchema, { description: `Its listings and sales, newest first; at most ${MAX_SHOWN} of each` }),
  },
  { title: 'StoredCertificate' },
)
export type StoredCertificateAnswer = Static<typeof StoredCertificateSchema>

export const getCertificate = verb(
  { name: 'getCertificate', needs: 'operator', input: Type.Object({ grader: grader(), cert: certNumber() }) },
  async ({ db }: ReadCtx, { grader, cert: written }): Promise<StoredCertificateAnswer> => {
    const cert = normalCert(written)
    const [known = null] = await fileFactsOf(db.kysely, [{ grader, cert }])
    const { counts, events } = await wholeHistory(db.kysely, { grader, cert }, MAX_SHOWN)
    return { grader, cert, known, ...counts, history: events }
  },
)
