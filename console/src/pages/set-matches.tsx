// Sets that resemble sets of other sources: one decision for all their cards.
import { setMatchStateValues as STATES, type SetMatch } from '../api-types.ts'
import { useVersion, useWrite } from '../data.ts'
import { useAddressQuery } from '../address.ts'
import { confirmed } from '../ui/dialog.tsx'
import { Heading } from '../ui/heading.tsx'
import { Refusal } from '../ui/states.tsx'
import { List } from '../ui/table.tsx'
import { announce } from '../ui/toasts.tsx'
import { moment, t, term } from '../words.ts'
import { MatchTabs } from './matches.tsx'

export function SetMatchesPage() {
  const [version, changed] = useVersion()
  const { values } = useAddressQuery()
  const { busy, error, write } = useWrite()
  const isDecided = values.state === 'decided'
  const after = (match: SetMatch | undefined) => {
    if (!match) return
    announce(t('setMatchDone', { name: match.set.name, waiting: match.waiting }))
    changed()
  }
  const accept = async ({ id, set, waiting }: SetMatch, other: SetMatch['set']) => {
    const asked = {
      title: t('setAcceptTitle', { name: set.name, other: other.name }),
      text: t('setDecideText', { waiting }),
      action: t('setAccept'),
      danger: false,
    }
    if (await confirmed(asked)) after((await write('POST', `/set-matches/${id}/accept`, { set_id: other.id }))?.data)
  }
  const separate = async ({ id, set, waiting }: SetMatch) => {
    const asked = { title: t('setSeparateTitle', { name: set.name }), text: t('setDecideText', { waiting }), action: t('setSeparate'), danger: false }
    if (await confirmed(asked)) after((await write('POST', `/set-matches/${id}/separate`))?.data)
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
      <List
        path="/set-matches"
        caption={t('matchesOfSets')}
        empty={t('noSetMatches')}
        version={version}
        filters={[
          { name: 'state', label: t('state'), options: STATES.map((code) => ({ value: code, text: term('matchState', code) })), always: true },
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
                      <button
                        type="button"
                        disabled={busy}
                        aria-label={`${t('setAccept')}: ${match.set.name}, ${set.name}`}
                        onClick={() => void accept(match, set)}
                      >
                        {t('setAccept')}
                      </button>
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
                <button type="button" disabled={busy} aria-label={`${t('matchWithdraw')}: ${match.set.name}`} onClick={() => void withdraw(match)}>
                  {t('matchWithdraw')}
                </button>
              ) : (
                <button type="button" disabled={busy} aria-label={`${t('setSeparate')}: ${match.set.name}`} onClick={() => void separate(match)}>
                  {t('setSeparate')}
                </button>
              ),
          },
        ]}
      />
    </>
  )
}
