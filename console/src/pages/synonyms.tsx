// Search synonyms: the words that operators have added to the built-in ones, and their meanings.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { Empty, Failure, Loading } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { Synonym } from '../api-types.ts'
import { useData, useWrite } from '../api.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { t } from '../words.ts'

export function CatalogueTabs({ current }: { current: 'catalogue' | 'games' | 'synonyms' | 'searches' }) {
  return (
    <Tabs
      tabs={[
        { href: '/console/catalogue', text: t('catalogue'), current: current === 'catalogue' },
        { href: '/console/games', text: t('games'), current: current === 'games' },
        { href: '/console/synonyms', text: t('synonyms'), current: current === 'synonyms' },
        { href: '/console/searches', text: t('searches'), current: current === 'searches' },
      ]}
    />
  )
}

export function SynonymsPage() {
  const [adding, setAdding] = useState(false)
  const [version, changed] = useVersion()
  const stored = useData('/synonyms', { version })
  const { busy, error, write, clear } = useWrite()
  const save = async (rows: Synonym[], done: string) => {
    if (!(await write('PUT', '/synonyms', rows))) return
    setAdding(false)
    announce(done)
    changed()
  }
  const rows = stored.data
  const add = ({ word = '', means = '' }: Values) => save([...(rows ?? []), { word, means }], t('synonymSaved', { word }))
  return (
    <>
      <Heading>{t('synonyms')}</Heading>
      <CatalogueTabs current="synonyms" />
      <p class="quiet">{t('synonymsText')}</p>
      <p>
        <PermittedButton
          need="catalogue"
          class="main"
          disabled={!rows}
          onClick={() => {
            clear()
            setAdding(true)
          }}
        >
          {t('newSynonym')}
        </PermittedButton>
      </p>
      {stored.error && <Failure error={stored.error} retry={stored.reload} />}
      {!rows && !stored.error && <Loading />}
      {rows?.length === 0 && <Empty>{t('noSynonyms')}</Empty>}
      {rows && rows.length > 0 && (
        <Table
          caption={t('synonyms')}
          rows={rows}
          busy={busy}
          rowKey={({ word, means }) => `${word} ${means}`}
          columns={[
            { head: t('synonymWord'), cell: ({ word }) => word },
            { head: t('synonymMeans'), cell: ({ means }) => means },
            {
              head: t('remove'),
              cell: (row) => (
                <PermittedButton
                  need="catalogue"
                  class="plain"
                  disabled={busy}
                  aria-label={`${t('remove')}: ${row.word}, ${row.means}`}
                  onClick={() =>
                    void save(
                      rows.filter((other) => other !== row),
                      t('removed'),
                    )
                  }
                >
                  {t('remove')}
                </PermittedButton>
              ),
            },
          ]}
        />
      )}
      {adding && (
        <Dialog title={t('newSynonym')} onClose={() => setAdding(false)}>
          <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void add(values)} onCancel={() => setAdding(false)}>
            <Field label={t('synonymWord')} hint={t('synonymWordHint')}>
              <input name="word" maxLength={200} autocomplete="off" required />
            </Field>
            <Field label={t('synonymMeans')} hint={t('synonymMeansHint')}>
              <input name="means" maxLength={200} autocomplete="off" required />
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}
