// Public sources of catalogue files: each with its licence, the state of its last fetch and a button to fetch it.
import { useVersion } from '#ui/data.ts'
import { confirm } from '#ui/dialog.tsx'
import { Failure, Progress, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { PublicSource } from '../api-types.ts'
import { useData, writeNow } from '../api.ts'
import { ago, count, locale, moment, sentence, t } from '../words.ts'
import { TURKISH_SOURCE_NOTES } from '../words/source-notes.ts'
import { PermittedButton } from './permitted-button.tsx'

const SOON_MS = 1_000
const MB = 1024 * 1024

const isFetching = ({ state }: PublicSource) => state === 'downloading' || state === 'importing'

interface PublicSourcesProps {
  /** only those of this game; default: all */
  game?: string
  /** called when a fetch has started */
  onStarted?: () => void
}

export function PublicSources({ game, onStarted }: PublicSourcesProps) {
  const [version, changed] = useVersion()
  const { data, error } = useData('/public-sources', { again: (sources) => (sources.some(isFetching) ? SOON_MS : null), version })
  if (error && !data) return <Failure error={error} />
  const sources = (data ?? []).filter((source) => game === undefined || source.game === game)
  if (sources.length === 0) return null
  const fetchSource = async ({ name, title, licence }: PublicSource, again: boolean) => {
    const text = t(again ? 'fetchAgainText' : 'fetchText', { licence })
    if (!(await confirm({ title: t('fetchTitle', { title }), text, action: t(again ? 'fetchAgain' : 'fetch') }))) return
    if (!(await writeNow('POST', `/public-sources/${name}/fetch`, again ? { again } : undefined))) return
    announce(t('fetchStarted'))
    changed()
    onStarted?.()
  }
  return (
    <section aria-labelledby="public-sources">
      <h2 id="public-sources">{t('publicSources')}</h2>
      <p class="quiet">{t('publicSourcesText')}</p>
      <Table
        caption={t('publicSources')}
        rows={sources}
        rowKey={({ name }) => name}
        columns={[
          { head: t('source'), width: '26%', cell: (source) => <Name of={source} /> },
          { head: t('game'), width: '10%', cell: (source) => <a href={`/console/games/${source.game}`}>{source.game_name}</a> },
          { head: t('licence'), width: '26%', cell: (source) => <Licence of={source} /> },
          { head: t('state'), width: '24%', cell: (source) => <State of={source} /> },
          {
            head: t('action'),
            width: '14%',
            cell: (source) => (
              <>
                <PermittedButton
                  need="catalogue"
                  disabled={isFetching(source)}
                  onClick={() => void fetchSource(source, false)}
                  aria-label={t('fetchNamed', { title: source.title })}
                >
                  {t('fetch')}
                </PermittedButton>
                {source.checked_at !== null && (
                  <PermittedButton
                    need="catalogue"
                    disabled={isFetching(source)}
                    onClick={() => void fetchSource(source, true)}
                    aria-label={t('fetchAgainNamed', { title: source.title })}
                  >
                    {t('fetchAgain')}
                  </PermittedButton>
                )}
              </>
            ),
          },
        ]}
      />
    </section>
  )
}

function Name({ of: { name, title, website, note } }: { of: PublicSource }) {
  const translated = locale.value === 'tr' ? TURKISH_SOURCE_NOTES[name] : undefined
  return (
    <>
      <a href={website} rel="noreferrer" target="_blank">
        {title}
      </a>
      {note !== null && (
        <div class="quiet" lang={translated === undefined ? 'en' : undefined}>
          {translated ?? note}
        </div>
      )}
    </>
  )
}

/** In the words of the source. */
function Licence({ of: { licence, terms_url: terms } }: { of: PublicSource }) {
  return (
    <>
      <span lang="en">{licence}</span>
      <div>
        <a href={terms} rel="noreferrer" target="_blank">
          {t('terms')}
        </a>
      </div>
    </>
  )
}

function State({ of: source }: { of: PublicSource }) {
  const { state, progress, failure, checked_at: checked, import_id: importId, bytes } = source
  if (state === 'downloading' && progress && progress.files_total > 0) {
    const part = progress.bytes_total ? progress.bytes / progress.bytes_total : 0
    return (
      <>
        <Progress
          percent={Math.min(99, (100 * (progress.files_done + part)) / progress.files_total)}
          label={t('fetchProgress', { title: source.title })}
        />
        <span class="quiet">{t('fetchFiles', { done: count(progress.files_done), of: count(progress.files_total) })}</span>
      </>
    )
  }
  return (
    <>
      <Status code={state} />{' '}
      {failure && <div class="quiet">{sentence({ message: failure.message, rule: failure.rule, params: failure.params })}</div>}
      {checked !== null && (
        <div class="quiet" title={moment(checked)}>
          {t('fetchChecked', { ago: ago(checked), size: count(Math.max(1, Math.round(bytes / MB))) })}
        </div>
      )}
      {importId !== null && <a href={`/console/imports/${importId}`}>#{importId}</a>}
    </>
  )
}
