// The certificate of a graded card in five cells of a file, as our own formats of collections and listings read and write it.
import { CertificateInput, type CertificateBody, FullCertificateInput } from '#catalogue/certificates/certificate.ts'
import { ServiceError } from '#core/errors.ts'
import { bodyReader } from '#core/input.ts'
import type { Problem } from '#core/problems.ts'
import type { StoredCertificate } from '#db/schema.ts'
import { BadCell, cell, type Cells } from './cells.ts'

export const CERTIFICATE_COLUMNS = ['grader', 'cert', 'cert_grade', 'qualifier', 'subgrades'] as const
export type CertificateColumn = (typeof CERTIFICATE_COLUMNS)[number]

const PARTS = ['centering', 'corners', 'edges', 'surface'] as const
const NOT_STATED = '-'

/** What each column holds. */
const CELLS: Readonly<Record<CertificateColumn, (certificate: StoredCertificate) => string | null>> = {
  grader: ({ grader }) => grader,
  cert: ({ cert }) => cert,
  cert_grade: ({ grade }) => grade,
  qualifier: ({ qualifier }) => qualifier,
  // In this order, such as `9.5/10/9.5/10`.
  subgrades: ({ subgrades }) => subgrades && PARTS.map((name) => subgrades[name] ?? NOT_STATED).join('/'),
}

/** Whether a column holds a part of a certificate. */
export function isCertificateColumn(column: string): column is CertificateColumn {
  return column in CELLS
}

/** The cell of a column; null without a certificate. */
export function certificateCell(column: CertificateColumn, certificate: StoredCertificate | null): string | null {
  return certificate && CELLS[column](certificate)
}

const readFull = bodyReader(FullCertificateInput)
const readAny = bodyReader(CertificateInput)

/** The certificate of a row with its grade; null if both grader and number are empty. @throws BadCell */
export function fullCertificateIn(cells: Cells): (CertificateBody & { grade: string }) | null {
  return read(cells, readFull)
}

/** The same, where the service may know the grade. @throws BadCell */
export function certificateIn(cells: Cells): CertificateBody | null {
  return read(cells, readAny)
}

function read<Body>(cells: Cells, bodyOf: (sent: object) => Body): Body | null {
  const [grader, cert, grade, qualifier, subgrades] = CERTIFICATE_COLUMNS.map((name) => cell(cells, name))
  if (grader === '' && cert === '') return null
  try {
    return bodyOf({
      grader: grader!.toUpperCase(),
      cert,
      ...(grade !== '' && { grade }),
      ...(qualifier !== '' && { qualifier }),
      ...(subgrades !== '' && { subgrades: subgradesIn(subgrades!) }),
    })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const [{ field, ...why }] = error.details as [Problem]
    const [name] = field.split('.')
    throw new BadCell({ field: name === 'grade' ? 'cert_grade' : name!, ...why })
  }
}

/** What is not a number is passed on, so that validation rejects it. */
function subgradesIn(text: string): object | string {
  const parts = text.split('/').map((part) => part.trim())
  if (parts.length > PARTS.length) return text
  const entries = parts.map((part, i) => [PARTS[i]!, partIn(part)])
  return Object.fromEntries(entries)
}

function partIn(text: string): number | string | null {
  if (text === '' || text === NOT_STATED) return null
  return /^\d{1,4}(\.\d{1,2})?$/.test(text) ? Number(text) : text
}
