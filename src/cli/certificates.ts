// The commands `certificates show` and `certificates import`.
import type { Command } from 'commander'
import type { CatalogueNode } from '#catalogue/context.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { getCertificate } from '#market/certificates/get-certificate.ts'
import {
  CERTIFICATE_FILE_COLUMNS,
  certificatesInParts,
  type CertificatesReport,
  importCertificates,
} from '#market/certificates/import-certificates.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult, rejectedLines } from './terminal/command.ts'
import { bytesAt } from './catalogue/files.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  const certificates = program.command('certificates').description('certificates of graded cards')

  addCommand(certificates, 'show', 'show what is known of a certificate, and who offered and sold the copy')
    .argument('<grader>', 'code of the grader, such as PSA')
    .argument('<cert>', 'number of the certificate')
    .action((grader: string, cert: string, options: OutputOptions) =>
      open(async (ctx) => {
        const found = await call(getCertificate, ctx, { grader: grader.toUpperCase(), cert })
        const { known, listings, sales, records, history } = found
        const facts = known
          ? `item ${known.item_id}, grade ${[known.grade, known.qualifier].filter(Boolean).join(' ')}`
          : 'not in the file of certificates'
        const lines = history.map(({ at, kind, seller, price, status }) => [at.slice(0, 10), kind, seller.name, price, status ?? ''])
        const counts = `${found.grader} ${found.cert}: ${facts}; ${listings} listings, ${sales} sales, ${records} records`
        printResult(print, options, found, lines.length === 0 ? counts : `${counts}\n${columns(['DAY', 'KIND', 'SELLER', 'TL', 'STATUS'], lines)}`)
      }),
    )

  addCommand(certificates, 'import', `load certificates from a CSV with the columns ${CERTIFICATE_FILE_COLUMNS.join(', ')}`)
    .argument('<file>', 'file; - for standard input; .gz is decompressed')
    .addHelpText('after', '\nThe last two columns may be missing. Invalid rows are reported and do not affect the others.')
    .action((path: string, options: OutputOptions) =>
      open(async (ctx) => {
        const catalogue = new Catalogue(ctx.db, { ...ctx.config, readyBytesMb: 1, now: ctx.now })
        await catalogue.load()
        const report = await importAll({ ...ctx, catalogue }, path)
        const { created, updated, refused, rows } = report
        const lines = rows.map(({ line, outcome, refused: why, warnings }) =>
          [
            `${line}: ${outcome}`,
            ...(why ?? []).map(({ field, message }) => (field === 'row' ? message : `${field} ${message}`)),
            ...warnings.map(({ message }) => message),
          ].join('; '),
        )
        printResult(
          print,
          options,
          report,
          [`Loaded ${created} new and ${updated} known certificates; ${refused} rows refused`, ...rejectedLines(lines)].join('\n'),
        )
        if (created + updated === 0) process.exitCode = 1
      }),
    )
}

/** Loads a file of any length in parts and shows the progress on a terminal. @returns the counts, and the rows with errors or warnings */
async function importAll(ctx: WriteCtx & CatalogueNode, path: string): Promise<CertificatesReport> {
  const total: CertificatesReport = { created: 0, updated: 0, refused: 0, rows: [] }
  const show = (text: string) => process.stderr.isTTY && process.stderr.write(`\r${text}\x1b[K`)
  try {
    for await (const rows of certificatesInParts({ bytes: bytesAt(path), fileName: null })) {
      const part = await call(importCertificates, ctx, { rows })
      for (const count of ['created', 'updated', 'refused'] as const) total[count] += part[count]
      for (const row of part.rows) if (row.refused || row.warnings.length > 0) total.rows.push(row)
      show(`${total.created + total.updated} certificates loaded, ${total.refused} rows refused`)
    }
    return total
  } catch (error) {
    const loaded = total.created + total.updated
    if (loaded === 0) throw error
    throw new Error(`${(error as Error).message}; ${loaded} certificates of the rows before were loaded`, { cause: error })
  } finally {
    show('')
  }
}
