// Settings that can be changed while the service runs: value, default, where it comes from and the last change; changing and undoing.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { Setting } from '../api-types.ts'
import { marketCodeValues as MARKETS } from '../api-values.ts'
import { useData, useWrite } from '../api.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { ago, nameMarkets, t, termText } from '../words.ts'

export function SettingsPage() {
  const [version, changed] = useVersion()
  const [edited, setEdited] = useState<Setting | null>(null)
  const settings = useData('/settings', { version })
  const { busy, error, write, clear } = useWrite()
  const done = (setting: Setting, text: string) => {
    setEdited(null)
    if (setting.name === 'MARKET_NAMES') nameMarkets(pairsIn(setting.value))
    announce(text)
    changed()
  }
  const save = async (setting: Setting, value: string | null) => {
    const saved = await write('PATCH', `/settings/${setting.name as string}`, { value }, setting.etag)
    if (saved) done(saved.data, t('settingSaved', { name: nameOf(setting) }))
  }
  const undo = async (setting: Setting) => {
    const saved = await write('POST', `/settings/${setting.name as string}/undo`, undefined, setting.etag)
    if (saved) done(saved.data, t('settingUndone', { name: nameOf(setting) }))
    else setEdited(setting)
  }
  return (
    <>
      <Heading>{t('settings')}</Heading>
      <p class="quiet">{t('settingsText')}</p>
      <Await of={settings}>
        {(rows) => (
          <Table
            caption={t('settings')}
            rows={rows}
            busy={busy || settings.loading}
            rowKey={({ name }) => name}
            columns={[
              {
                head: t('setting'),
                cell: (row) => (
                  <>
                    {nameOf(row)}
                    <div class="quiet">
                      <code>{row.name}</code>
                    </div>
                  </>
                ),
              },
              { head: t('value'), cell: (row) => <Shown of={row} text={row.value} /> },
              { head: t('settingDefault'), cell: (row) => <Shown of={row} text={row.default} /> },
              { head: t('settingOrigin'), cell: ({ origin }) => termText('origin', origin) },
              {
                head: t('lastChange'),
                cell: ({ changed_at: at, changed_by: by, name }) =>
                  at && (
                    <>
                      {ago(at)}
                      <div class="quiet">
                        <a href={`/console/audit?subject_type=setting&subject_id=${name}`}>{by?.replace(/^operator:/, '').replace(/[:#]\d+$/, '')}</a>
                      </div>
                    </>
                  ),
              },
              {
                head: t('actions'),
                cell: (row) => (
                  <div class="buttons">
                    <PermittedButton
                      need="owner"
                      aria-label={t('changeSetting', { name: nameOf(row) })}
                      onClick={() => {
                        clear()
                        setEdited(row)
                      }}
                    >
                      {t('edit')}
                    </PermittedButton>
                    {row.undo_to !== null && (
                      <PermittedButton
                        need="owner"
                        class="plain"
                        disabled={busy}
                        aria-label={t('undoSetting', { name: nameOf(row), value: row.undo_to })}
                        onClick={() => void undo(row)}
                      >
                        {t('undo')}
                      </PermittedButton>
                    )}
                  </div>
                ),
              },
            ]}
          />
        )}
      </Await>
      {edited && (
        <Dialog title={t('changeSetting', { name: nameOf(edited) })} onClose={() => setEdited(null)}>
          <Form
            submit={t('save')}
            busy={busy}
            error={error}
            onSubmit={(values) => void save(edited, textOf(edited, values))}
            onCancel={() => setEdited(null)}
          >
            <p class="quiet">{termText('settingText', edited.name)}</p>
            <Fields of={edited} />
            {edited.origin === 'console' && (
              <p>
                <button type="button" class="plain" disabled={busy} onClick={() => void save(edited, null)}>
                  {t('settingReset', { value: shownText(edited, edited.environment ?? edited.default) })}
                </button>
              </p>
            )}
          </Form>
        </Dialog>
      )}
    </>
  )
}

function nameOf({ name }: Setting): string {
  return termText('setting', name)
}

/** The text in words: days with their unit, markets by name. */
function shownText({ kind, name }: Setting, text: string): string {
  if (kind === 'decimal') return `${text} %`
  if (kind === 'integer') return text === '0' && name !== 'HIGHLIGHT_DAYS' ? t('forever') : t('daysCount', { count: Number(text) })
  if (text === '') return '–'
  if (kind === 'market_order')
    return orderIn(text)
      .map((market) => termText('market', market))
      .join(', ')
  if (kind === 'quiet_hours') return text === 'off' ? t('noQuietHours') : text
  return Object.entries(pairsIn(text))
    .map(([market, value]) => (kind === 'market_names' ? `${market}: ${value}` : `${termText('market', market)}: ${value}`))
    .join(', ')
}

function Shown({ of, text }: { of: Setting; text: string }) {
  return <>{shownText(of, text)}</>
}

function pairsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split(',')
      .map((part) => part.split('=', 2).map((side) => side.trim()))
      .filter(([market, value]) => market && value),
  ) as Record<string, string>
}

function orderIn(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}

/** Inputs for the kind; `textOf` reads them. */
function Fields({ of: setting }: { of: Setting }) {
  const { kind, value, min, max } = setting
  if (kind === 'integer' || kind === 'decimal') {
    return (
      <Field label={nameOf(setting)} hint={t('numberBetween', { min: min!, max: max! })}>
        <input name="value" type="number" min={min!} max={max!} step={kind === 'integer' ? 1 : 'any'} defaultValue={value} required />
      </Field>
    )
  }
  if (kind === 'quiet_hours') {
    return (
      <Field label={nameOf(setting)} hint={t('quietHoursHint')}>
        <input name="value" defaultValue={value} required />
      </Field>
    )
  }
  if (kind === 'market_order') {
    const order = orderIn(value)
    return (
      <>
        {MARKETS.map((code, place) => (
          <Field key={code} label={t('placeNumber', { number: place + 1 })}>
            <select name={`place${place}`}>
              <option value="">–</option>
              {MARKETS.map((market) => (
                <option key={market} value={market} selected={order[place] === market}>
                  {termText('market', market)}
                </option>
              ))}
            </select>
          </Field>
        ))}
      </>
    )
  }
  const values = pairsIn(value)
  const isNames = kind === 'market_names'
  return (
    <>
      {MARKETS.filter((market) => isNames || market !== 'service').map((market) => (
        <Field key={market} label={isNames ? market : termText('market', market)}>
          <input name={market} maxLength={isNames ? 40 : 3} defaultValue={values[market] ?? ''} required={!isNames} />
        </Field>
      ))}
    </>
  )
}

/** The notation of the environment variable. */
function textOf({ kind }: Setting, values: Values): string {
  if (kind === 'market_order')
    return MARKETS.map((_, place) => values[`place${place}`])
      .filter(Boolean)
      .join(',')
  if (kind === 'market_names' || kind === 'source_currencies') {
    return MARKETS.flatMap((market) => (values[market]?.trim() ? [`${market}=${values[market]!.trim()}`] : [])).join(',')
  }
  return (values.value ?? '').trim()
}
