// Sets that resemble sets of other sources: one decision applies to all their cards.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { useAddressQuery } from '#ui/address.ts'
import { confirm, Dialog, Field, Form } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Empty, Refusal } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import type { SetMatch } from '../api-types.ts'
import { setMatchStateValues as STATES } from '../api-values.ts'
import { List, useData, useWrite } from '../api.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { moment, t, termText } from '../words.ts'
import { MatchTabs } from './matches.tsx'

/** Sets listed in the dialog. */
const SHOWN_SETS = 50
const SHOWN_ROWS = 8

type ChosenSet = Pick<SetMatch['set'], 'id' | 'name'>

export function SetMatchesPage() {
  const [version, changed] = useVersion()
  const { values } = useAddressQuery()
  const { busy, error, write } = useWrite()
  const isDecided = values.state === 'decided'
  const [choosing, setChoosing] = useState<SetMatch | null>(null)
  const after = (match: SetMatch | undefined) => {
    if (!match) return
    announce(t('setMatchDone', { name: match.set.name, waiting: match.waiting }))
    changed()
  }
  const accept = async ({ id, set, waiting }: SetMatch, other: ChosenSet) => {
    const question = {
      title: t('setAcceptTitle', { name: set.name, other: other.name }),
      text: t('setDecideText', { waiting }),
      action: t('setAccept'),
      danger: false,
    }
    if (await confirm(question)) after((await write('POST', `/set-matches/${id}/accept`, { set_id: other.id }))?.data)
  }
  const separate = async ({ id, set, waiting }: SetMatch) => {
    const question = {
      title: t('setSeparateTitle', { name: set.name }),
      text: t('setDecideText', { waiting }),
      action: t('setSeparate'),
      danger: false,
    }
    if (await confirm(question)) after((await write('POST', `/set-matches/${id}/separate`))?.data)
  }
  const withdraw = async ({ id, set }: SetMatch) => {
    if (!(await write('POST', `/set-matches/${id}/withdraw`))) return
    announce(t('matchDone.withdraw', { name: set.name }))
    changed()
  }
  return (
    <>
      <Heading>{t('matches')}</Heading>
      <MatchTabs current="sets" />
      <Refusal error={error} />
      {choosing && (
        <SetChooser
          match={choosing}
          onClose={() => setChoosing(null)}
          onChosen={(other) => {
            setChoosing(null)
            void accept(choosing, other)
          }}
        />
      )}
      <List
        path="/set-matches"
        caption={t('matchesOfSets')}
        empty={t('noSetMatches')}
        version={version}
        filters={[
          { name: 'state', label: t('state'), options: STATES.map((code) => ({ value: code, text: termText('matchState', code) })), always: true },
          { name: 'game', label: t('game') },
        ]}
        rowKey={(match) => match.id}
        columns={[
          {
            head: t('set'),
            cell: ({ set }) => (
              <>
                {set.name} <span class="quiet">{set.ref}</span>
              </>
            ),
          },
          {
            head: t('setWaiting'),
            number: true,
            cell: (match) => <a href={`/console/matches?set=${encodeURIComponent(match.set.ref)}`}>{match.waiting}</a>,
          },
          {
            head: t(isDecided ? 'decision' : 'setResembles'),
            cell: (match) => (
              <ul>
                {match.candidates.map(({ set, agree, of, decided }) => (
                  <li key={set.id}>
                    {set.name} <span class="quiet">{set.ref}</span> {t('setAgree', { agree, of })}{' '}
                    {!decided && (
                      <PermittedButton
                        need="catalogue"
                        disabled={busy}
                        aria-label={`${t('setAccept')}: ${match.set.name}, ${set.name}`}
                        onClick={() => void accept(match, set)}
                      >
                        {t('setAccept')}
                      </PermittedButton>
                    )}
                  </li>
                ))}
                {match.decision?.set_ids.length === 0 && <li>{t('setNone')}</li>}
                {match.decision && (
                  <li class="quiet">
                    {match.decision.author}, {moment(match.decision.at)}
                  </li>
                )}
              </ul>
            ),
          },
          {
            head: t('actions'),
            cell: (match) =>
              isDecided ? (
                <PermittedButton
                  need="catalogue"
                  disabled={busy}
                  aria-label={`${t('matchWithdraw')}: ${match.set.name}`}
                  onClick={() => void withdraw(match)}
                >
                  {t('matchWithdraw')}
                </PermittedButton>
              ) : (
                <div class="buttons">
                  <PermittedButton
                    need="catalogue"
                    disabled={busy}
                    aria-label={`${t('setOther')}: ${match.set.name}`}
                    onClick={() => setChoosing(match)}
                  >
                    {t('setOther')}
                  </PermittedButton>
                  <PermittedButton
                    need="catalogue"
                    disabled={busy}
                    aria-label={`${t('setSeparate')}: ${match.set.name}`}
                    onClick={() => void separate(match)}
                  >
                    {t('setSeparate')}
                  </PermittedButton>
                </div>
              ),
          },
        ]}
      />
    </>
  )
}

interface SetChooserProps {
  match: SetMatch
  onClose: () => void
  onChosen: (set: ChosenSet) => void
}

/** Chooses any other set of the game by name or ref. */
function SetChooser({ match, onClose, onChosen }: SetChooserProps) {
  const [search, setSearch] = useState(match.set.name)
  const { data, error, loading } = useData('/categories', { query: { game: match.game, search, per_page: SHOWN_SETS } })
  const sets = (data ?? []).filter(({ id }) => id !== match.set.id)
  const choose = ({ set_id: chosen }: Record<string, string>) => {
    const set = sets.find(({ id }) => String(id) === chosen)
    if (set) onChosen(set)
  }
  return (
    <Dialog title={t('setOtherTitle', { name: match.set.name })} onClose={onClose}>
      <Form submit={t('setAccept')} busy={false} error={error} onSubmit={choose} onCancel={onClose}>
        <Field label={t('search')} hint={t('setSearchHint')}>
          <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </Field>
        {sets.length === 0 && !loading ? (
          <Empty>{t('nothingMatches')}</Empty>
        ) : (
          <Field label={t('set')}>
            <select name="set_id" size={SHOWN_ROWS} required>
              {sets.map(({ id, name, ref, market }) => (
                <option key={id} value={id}>
                  {`${name} · ${ref} · ${termText('market', market)}`}
                </option>
              ))}
            </select>
          </Field>
        )}
      </Form>
    </Dialog>
  )
}
