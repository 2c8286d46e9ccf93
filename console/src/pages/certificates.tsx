// Certificates of graded cards: what is known of one, and a form that loads many from a file.
import { useEffect, useState } from 'preact/hooks'
import { useAddressQuery } from '#ui/address.ts'
import { ApiError } from '#ui/api.ts'
import { Field, Form } from '#ui/dialog.tsx'
import { FileForm } from '#ui/file-form.tsx'
import { Heading } from '#ui/heading.tsx'
import { RowPages } from '#ui/row-pages.tsx'
import { Await, Empty, Facts, Failure, FieldProblem } from '#ui/states.tsx'
import { isAllowed, useData, useUpload, useWrite } from '../api.ts'
import type { CertificatesReport, StoredCertificate } from '../api-types.ts'
import { certificateGraderValues as GRADERS } from '../api-values.ts'
import { CertificateHistory } from '../ui/certificate.tsx'
import { RecordLink } from '../ui/record-link.tsx'
import { count, sentence, t, termText } from '../words.ts'
import { MarketTabs } from './listings.tsx'

const ROWS_PER_PAGE = 25

export function CertificatesPage() {
  const [report, setReport] = useState<CertificatesReport | null>(null)
  // What is found is above the form for files, which therefore appears after it, and then stays.
  const [isFound, setFound] = useState(false)
  return (
    <>
      <Heading>{t('market')}</Heading>
      <MarketTabs current="certificates" />
      <p class="quiet">{t('certificatesText')}</p>
      <div class="panels">
        <LookUp onFound={() => setFound(true)} />
        {isAllowed('market') && isFound && <FileOfCertificates onLoaded={setReport} />}
      </div>
      {report && <Report of={report} />}
    </>
  )
}

/** Finds a certificate by its grader and number, which are in the address. @param onFound also called if the address has none */
function LookUp({ onFound }: { onFound: () => void }) {
  const { values, set } = useAddressQuery()
  const { grader = GRADERS[0]!, cert = '' } = values
  const found = useData(cert === '' ? null : '/certificates', { query: { grader: grader as (typeof GRADERS)[number], cert } })
  const isDone = cert === '' || found.data !== null || found.error !== null
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the first answer counts
  useEffect(() => {
    if (isDone) onFound()
  }, [isDone])
  return (
    <section class="panel settings">
      <Form submit={t('lookUp')} busy={found.loading} error={null} onSubmit={(chosen) => set({ page: 1, ...chosen })}>
        <Field label={t('grader')}>
          <select name="grader">
            {GRADERS.map((code) => (
              <option key={code} value={code} selected={code === grader}>
                {code}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('certificateNumber')}>
          <input name="cert" defaultValue={cert} maxLength={32} autocomplete="off" required />
        </Field>
      </Form>
      {cert !== '' && (
        <div aria-live="polite">
          {/* A refused number leaves the last certificate loaded. */}
          {found.error ? (
            <Failure error={found.error} retry={found.reload} />
          ) : (
            <Await of={found}>{(certificate) => <Certificate of={certificate} />}</Await>
          )}
        </div>
      )}
    </section>
  )
}

function Certificate({ of: { grader, cert, known, listings, sales, records, history } }: { of: StoredCertificate }) {
  return (
    <>
      <h2>{`${grader} ${cert}`}</h2>
      {known === null && listings + sales + records === 0 && <Empty>{t('unknownCertificate')}</Empty>}
      {known === null && listings + sales + records > 0 && <p>{t('certificateNotInFile')}</p>}
      <Facts
        brief
        rows={[
          [t('item'), known && <RecordLink of="items" id={known.item_id} />],
          [t('grade'), known && [known.grade, known.qualifier].filter(Boolean).join(' ')],
          [t('label'), known?.label],
          [t('listings'), count(listings)],
          [t('sales'), count(sales)],
          [t('collectionRecords'), count(records)],
        ]}
      />
      <CertificateHistory of={history} />
    </>
  )
}

/** Loads a CSV or JSON file. */
function FileOfCertificates({ onLoaded }: { onLoaded: (report: CertificatesReport | null) => void }) {
  const csv = useUpload()
  const json = useWrite()
  const [unreadable, setUnreadable] = useState<ApiError | null>(null)
  const load = async (file: File) => {
    onLoaded(null)
    setUnreadable(null)
    for (const { clear } of [csv, json]) clear()
    if (!/\.json$/i.test(file.name)) return onLoaded((await csv.write('/certificates', file))?.data ?? null)
    const body = await file
      .text()
      .then(JSON.parse)
      .catch(() => null)
    if (body === null) return setUnreadable(new ApiError(0, { code: 'INVALID_JSON', message: t('notJson') }))
    onLoaded((await json.write('POST', '/certificates', Array.isArray(body) ? { rows: body } : body))?.data ?? null)
  }
  return (
    <FileForm
      label={t('certificatesByFile')}
      hint={t('certificatesByFileHint')}
      submit={t('loadFile')}
      accept=".csv,text/csv,.json,application/json"
      busy={csv.busy || json.busy}
      error={unreadable ?? csv.error ?? json.error}
      onSubmit={(file) => void load(file)}
    />
  )
}

/** The counts, and the rows with errors or warnings. */
function Report({ of: { created, updated, refused, rows } }: { of: CertificatesReport }) {
  const noticed = rows.filter((row) => row.refused !== null || row.warnings.length > 0)
  return (
    <section>
      <p role="status">{t('certificatesLoaded', { created, updated, refused })}</p>
      {noticed.length > 0 && (
        <RowPages
          caption={t('rowsToCheck')}
          perPage={ROWS_PER_PAGE}
          rows={noticed}
          rowKey={({ line }) => line}
          columns={[
            { head: t('line'), number: true, cell: ({ line }) => line },
            { head: t('certificate'), cell: ({ grader, cert }) => [grader, cert].filter(Boolean).join(' ') || '–' },
            { head: t('state'), cell: ({ outcome }) => termText('certificateRow', outcome) },
            {
              head: t('reason'),
              cell: ({ refused: problems, warnings }) => (
                <>
                  {problems?.map((problem) => (
                    <p key={problem.field}>
                      <FieldProblem of={problem} />
                    </p>
                  ))}
                  {warnings.map((warning) => (
                    <p key={warning.rule}>{sentence(warning)}</p>
                  ))}
                </>
              ),
            },
          ]}
        />
      )}
    </section>
  )
}
