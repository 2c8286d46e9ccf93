// Records pending a decision about their item: each next to its candidates, decided by keyboard.
import { newKey } from '#ui/api.ts'
import type { Match, MatchReason } from '../api-types.ts'
import { matchReasonRuleValues as RULES, matchStateValues as STATES } from '../api-values.ts'
import { isAllowed, request, useData } from '../api.ts'
import { Tabs } from '#ui/frame.tsx'
import { type Act, ActButtons, QueuePage, useDecisions, useSequentialWrites } from '../ui/queue.tsx'
import { Facts } from '#ui/states.tsx'
import { useFilters } from '#ui/table.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { Picture } from '../ui/picture.tsx'
import { moment, t, termText } from '../words.ts'
import { priceText } from './prices.ts'

const SHOWN = 25
/** Candidates that a digit key accepts. */
const DIGITS = 9

type Decision = 'accept' | 'separate' | 'postpone' | 'withdraw'

export function MatchTabs({ current }: { current: 'cards' | 'sets' }) {
  return (
    <Tabs
      tabs={[
        { href: '/console/matches', text: t('matchesOfCards'), current: current === 'cards' },
        { href: '/console/set-matches', text: t('matchesOfSets'), current: current === 'sets' },
      ]}
    />
  )
}

export function MatchesPage() {
  const filters = useFilters([
    { name: 'state', label: t('state'), options: STATES.map((code) => ({ value: code, text: termText('matchState', code) })), always: true },
    { name: 'reason', label: t('why'), options: RULES.map((code) => ({ value: code, text: termText('matchRule', code) })) },
    { name: 'source', label: t('source') },
    { name: 'set', label: t('set'), type: 'search' },
    { name: 'game', label: t('game') },
  ])
  const writes = useSequentialWrites()
  const loaded = useData('/matches', { query: { ...filters.values, page: filters.page, per_page: SHOWN }, paused: writes.applying > 0 })
  const queue = useDecisions(
    loaded,
    writes,
    (row) => row.id,
    (row) => row.record.name,
  )
  const { current } = queue
  const decide = (match: Match, how: Decision, body?: { item_id: number }) =>
    queue.decide(match, async () => {
      await send(match.id, how, body)
      return t(`matchDone.${how}`, { name: match.record.name })
    })
  const actsOf = (match: Match): Act[] => [
    match.state === 'waiting'
      ? { key: 'l', text: t('matchLater'), run: () => decide(match, 'postpone') }
      : { key: 'w', text: t('matchWithdraw'), run: () => decide(match, 'withdraw') },
    ...(match.state === 'decided' ? [] : [{ key: 'n', text: t('matchNewItem'), run: () => decide(match, 'separate') }]),
  ]
  const accept = (match: Match, id: number) => decide(match, 'accept', { item_id: id })
  queue.onKey(({ key }) => {
    if (!current || !isAllowed('catalogue')) return
    const candidate = current.state === 'decided' ? undefined : current.candidates.slice(0, DIGITS)[Number(key) - 1]
    if (candidate) return () => accept(current, candidate.item.id)
    return actsOf(current).find((act) => act.key === key)?.run
  })
  return (
    <QueuePage
      of={queue}
      filters={filters}
      title={t('matches')}
      need="catalogue"
      tabs={<MatchTabs current="cards" />}
      keys={t('matchKeys')}
      applying="matchesApplying"
      empty={t('noMatches')}
      line={({ record, reasons }) => (
        <>
          <span>
            {record.name} <span class="quiet">{record.code}</span>
          </span>
          <small>
            {record.category?.name} · {reasons.map(({ rule }) => termText('matchRule', rule)).join(', ')}
          </small>
        </>
      )}
    >
      {(match) => <Comparison match={match} acts={actsOf(match)} onAccept={(id) => accept(match, id)} />}
    </QueuePage>
  )
}

interface ComparisonProps {
  match: Match
  acts: Act[]
  onAccept: (itemId: number) => void
}

/** A record beside its candidates, with the possible decisions. */
function Comparison({ match, acts, onAccept }: ComparisonProps) {
  const { state, decision } = match
  return (
    <>
      <div class="buttons">
        <ActButtons need="catalogue" acts={acts} />
      </div>
      {decision && (
        <div class="buttons">
          <p>{t(`matchWas.${decision.kind}`, { author: decision.author, at: moment(decision.at) })}</p>
          <a class="button" href={`/console/catalogue/items/${decision.item_id}`}>
            {t('matchItem', { id: String(decision.item_id) })}
          </a>
        </div>
      )}
      <Reasons of={match.reasons} />
      <div class="compared">
        <RecordSide key={match.id} match={match} />
        {match.candidates.map((candidate, n) => (
          <CandidateSide
            key={candidate.item.id}
            candidate={candidate}
            digit={n < DIGITS ? n + 1 : null}
            onAccept={state === 'decided' ? null : () => onAccept(candidate.item.id)}
          />
        ))}
      </div>
    </>
  )
}

async function send(id: number, how: Decision, body?: { item_id: number }): Promise<void> {
  const idempotencyKey = newKey()
  if (how === 'accept') await request('POST', `/matches/${id}/accept`, { json: body, idempotencyKey })
  else await request('POST', `/matches/${id}/${how}`, { idempotencyKey })
}

/** Why the rules do not decide, in the reader's language. */
export function Reasons({ of: reasons }: { of: MatchReason[] }) {
  return (
    <ul class="reasons">
      {reasons.map(({ rule, params }) => (
        <li key={rule}>{t(`matchReason.${rule}`, textsOf(params))}</li>
      ))}
    </ul>
  )
}

function textsOf(params: MatchReason['params']): Record<string, string | number> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typeof value === 'number' ? value : String(value)]))
}

function RecordSide({ match: { record } }: { match: Match }) {
  return (
    <section aria-label={t('record')}>
      <h2>
        {record.name} <span class="quiet">{record.code}</span>
      </h2>
      <p class="quiet">
        {record.source} {record.foreign_id}
      </p>
      <Side card={record} set={record.category?.name ?? null} finish={record.finishes.join(', ')} />
    </section>
  )
}

interface CandidateProps {
  candidate: Match['candidates'][number]
  digit: number | null
  onAccept: (() => void) | null
}

function CandidateSide({ candidate: { item, score, reasons }, digit, onAccept }: CandidateProps) {
  return (
    <section aria-label={t('candidate', { name: item.name })}>
      <h2>
        <a href={`/console/catalogue/items/${item.id}`}>{item.name}</a> <span class="quiet">{item.code}</span>
      </h2>
      <p class="quiet">{t('matchScore', { score })}</p>
      <Side card={item} set={item.category.name} finish={item.attributes.find(({ name }) => name === 'Finish')?.value ?? ''} />
      <Reasons of={reasons} />
      {onAccept && (
        <PermittedButton need="catalogue" class="main" aria-keyshortcuts={digit === null ? undefined : String(digit)} onClick={onAccept}>
          {t('matchAccept')} {digit !== null && <kbd>{digit}</kbd>}
        </PermittedButton>
      )}
    </section>
  )
}

interface SideProps {
  card: Pick<Match['record'], 'name' | 'images' | 'details' | 'foreign_ids' | 'prices'>
  set: string | null
  finish: string
}

/** The fields that both sides show at the same positions. */
function Side({ card, set, finish }: SideProps) {
  const shops = card.foreign_ids.map(({ source, id, finish: printing }) => [source, id, printing].filter(Boolean).join(' '))
  return (
    <>
      <Picture item={card} />
      <Facts
        rows={[
          [t('set'), set],
          [t('finish'), finish || t('notStated')],
          [t('detail.rarity'), card.details.rarity],
          [t('detail.hp'), card.details.hp],
          [t('foreignIds'), shops.join(', ')],
        ]}
      />
      {card.prices.length > 0 && (
        <ul class="prices">
          {card.prices.map(({ market, label, price }) => (
            <li key={`${market} ${label}`}>
              <span>
                {termText('market', market)} <span class="quiet">{label}</span>
              </span>
              <strong>{priceText(price, market)}</strong>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
