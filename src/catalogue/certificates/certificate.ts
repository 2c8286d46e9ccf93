// Certificates of graded cards: their fields, one spelling of each number, and warnings about unusual ones.
import { invalidFields } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Problem, problem, type Reason, reason } from '#core/problems.ts'
import { GRADER_CODES, GRADERS } from './graders.ts'

const MAX_CERT = 32
const MAX_TEXT = 20
const WORDS = '^[A-Za-z0-9]+([ .+-][A-Za-z0-9]+)*$'
const NUMBER = '^[A-Za-z0-9]+([ -][A-Za-z0-9]+)*$'

const words = (description: string, examples: string[]) =>
  Type.String({ pattern: WORDS, maxLength: MAX_TEXT, allowed: reason('certificate_text', { max: MAX_TEXT }), description, examples })
const subgrade = (of: string) =>
  Type.Optional(orNull(Type.Number({ minimum: 0, maximum: 1_000, examples: [9.5] }), { description: `Grade of the ${of}` }))

/** Grades of the parts, as callers send them. */
export const SubgradesInput = Type.Object(
  { centering: subgrade('centering'), corners: subgrade('corners'), edges: subgrade('edges'), surface: subgrade('surface') },
  { additionalProperties: false, minProperties: 1, title: 'Subgrades', description: 'Grades of the parts, if the grader states them' },
)

export const grader = () => Type.Enum(GRADER_CODES, { description: 'Code of the grader', examples: ['PSA'] })

/** A number as people write it. */
export const certNumber = () =>
  Type.String({
    pattern: NUMBER,
    maxLength: MAX_CERT,
    allowed: reason('certificate_text', { max: MAX_CERT }),
    description: 'Certificate number; stored in capitals, without spaces, hyphens and leading zeros',
    examples: ['12345678'],
  })
export const gradeText = () => words('Grade on the certificate', ['10'])
export const qualifierText = () => words('Qualifier of the grade', ['OC'])

/** A certificate as callers send it: the grade may be left out if the service knows the certificate. */
export const CertificateInput = Type.Object(
  {
    grader: grader(),
    grade: Type.Optional(gradeText()),
    cert: certNumber(),
    qualifier: Type.Optional(orNull(qualifierText())),
    subgrades: Type.Optional(orNull(SubgradesInput)),
  },
  { additionalProperties: false, title: 'CertificateInput', description: 'Certificate of a graded card' },
)
export type CertificateBody = Static<typeof CertificateInput>

/** The same where the grade is required. */
export const FullCertificateInput = Type.Object(
  { ...CertificateInput.properties, grade: gradeText() },
  { additionalProperties: false, title: 'RecordCertificateInput', description: 'Certificate of a graded card' },
)

const part = (of: string) => orNull(Type.Number(), { description: `Grade of the ${of}; null if not stated` })

const SubgradesSchema = Type.Object(
  { centering: part('centering'), corners: part('corners'), edges: part('edges'), surface: part('surface') },
  { title: 'CertificateSubgrades', description: 'Grades of the parts' },
)

/** A certificate as it is stored and returned. */
export const CertificateSchema = Type.Object(
  {
    grader: Type.Enum(GRADER_CODES, { description: 'Code of the grader' }),
    grade: Type.String({ description: 'Grade on the certificate', examples: ['10'] }),
    cert: Type.String({ description: 'Certificate number, in capitals, without spaces, hyphens and leading zeros', examples: ['12345678'] }),
    qualifier: orNull(Type.String({ examples: ['OC'] }), { description: 'Qualifier of the grade; null if there is none' }),
    subgrades: orNull(SubgradesSchema, { description: 'null if none were stated' }),
  },
  { title: 'Certificate', description: 'Certificate of a graded card' },
)
export type Certificate = Static<typeof CertificateSchema>

/** What identifies a certificate. */
export type CertificateKey = Pick<Certificate, 'grader' | 'cert'>

/** One spelling of a number, so that another spelling is not another certificate. */
export function normalCert(cert: string): string {
  return cert.replace(/[ -]/g, '').toUpperCase().replace(/^0+/, '') || '0'
}

/** The key of a certificate as text, for maps. */
export function keyOf({ grader, cert }: CertificateKey): string {
  return `${grader} ${cert}`
}

/** A certificate in its stored form. */
export function certificateOf(body: CertificateBody & { grade: string }): Certificate {
  const { centering = null, corners = null, edges = null, surface = null } = body.subgrades ?? {}
  const subgrades = { centering, corners, edges, surface }
  return {
    grader: body.grader,
    grade: body.grade,
    cert: normalCert(body.cert),
    qualifier: body.qualifier ?? null,
    subgrades: Object.values(subgrades).some((grade) => grade !== null) ? subgrades : null,
  }
}

/** Why a certificate cannot be of this many copies: it belongs to one; null if it can. */
export function copiesProblem(quantity: number, certificate: object | null): Problem | null {
  return certificate !== null && quantity > 1 ? problem('quantity', 'certificate_quantity') : null
}

/** @throws VALIDATION_ERROR as `copiesProblem` says */
export function checkCopies(quantity: number, certificate: object | null): void {
  const why = copiesProblem(quantity, certificate)
  if (why) throw invalidFields([why])
}

/** What looks unusual about a certificate; never a reason to refuse it. */
export function certificateWarnings({ grader, cert, grade }: Pick<Certificate, 'grader' | 'cert' | 'grade'>): Reason[] {
  const rules = GRADERS.find(({ code }) => code === grader)
  if (!rules) return []
  return [
    ...(rules.certShape.test(cert) ? [] : [reason('certificate_shape', { grader, value: cert })]),
    ...(rules.gradeShape.test(grade) ? [] : [reason('certificate_grade', { grader, value: grade })]),
  ]
}
