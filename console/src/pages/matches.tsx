// Records pending a decision about their item: each next to its candidates, decided by keyboard.
import { useEffect, useState } from 'preact/hooks'
import { newKey } from '#ui/api.ts'
import { type Match, matchReasonRuleValues as RULES, matchStateValues as STATES, type MatchReason } from '../api-types.ts'
import { asApiError } from '#ui/data.ts'
import { isAllowed, request, useData } from '../api.ts'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { useSequentialWrites, useQueue } from '../ui/queue.ts'
import { Empty, Facts, Failure, Loading } from '#ui/states.tsx'
import { Pages, useFilters } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { Picture } from '../ui/picture.tsx'
import { count, moment, sentence, t, termText } from '../words.ts'
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
  const { values, page, filtered, bar, link } = useFilters([
    { name: 'state', label: t('state'), options: STATES.map((code) => ({ value: code, text: termText('matchState', code) })), always: true },
    { name: 'reason', label: t('why'), options: RULES.map((code) => ({ value: code, text: termText('matchRule', code) })) },
    { name: 'source', label: t('source') },
    { name: 'set', label: t('set'), type: 'search' },
    { name: 'game', label: t('game') },
  ])
  const { applying, apply } = useSequentialWrites()
  const queue = useData('/matches', { query: { ...values, page, per_page: SHOWN }, paused: applying > 0 })
  /** decided on this page; the loaded queue may still contain them */
  const [decided, setDecided] = useState<number[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new response is a newer queue
  useEffect(() => setDecided([]), [queue.data])
  const rows = (queue.data ?? []).filter((row) => !decided.includes(row.id))
  const { whole, list, current, show, onKey } = useQueue(rows, (row) => row.id)
  const isDecided = current?.state === 'decided'

  /** The next match is displayed at once; decisions are applied one after another. */
  const decide = (match: Match, how: Decision, body?: { item_id: number }) => {
    setDecided((earlier) => [...earlier, match.id])
    void apply(async () => {
      try {
        await send(match.id, how, body)
        announce(t(`matchDone.${how}`, { name: match.record.name }))
      } catch (error) {
        announce(`${match.record.name}: ${sentence(asApiError(error))}`, 'bad')
        setDecided((earlier) => earlier.filter((id) => id !== match.id))
      }
    })
  }
  onKey((event) => {
    if (!current || !isAllowed('catalogue')) return
    const act: Record<string, () => void> = {
      ...(isDecided || current.state === 'postponed' ? { w: () => decide(current, 'withdraw') } : { l: () => decide(current, 'postpone') }),
      ...(!isDecided && {
        n: () => decide(current, 'separate'),
        ...Object.fromEntries(
          current.candidates.slice(0, DIGITS).map(({ item }, n) => [String(n + 1), () => decide(current, 'accept', { item_id: item.id })]),
        ),
      }),
    }
    return act[event.key]
  })

  return (
    <div ref={whole}>
      <Heading>
        {t('matches')} {queue.pagination && <span class="quiet">{count(queue.pagination.total)}</span>}
      </Heading>
      <MatchTabs current="cards" />
      <div class="toolbar">{bar}</div>
      {isAllowed('catalogue') && <p class="quiet keys">{t('matchKeys')}</p>}
      <p class="quiet keys" role="status">
        {applying > 0 && t('matchesApplying', { count: applying })}
      </p>
      {queue.error ? (
        <Failure error={queue.error} retry={queue.reload} />
      ) : !queue.data || (rows.length === 0 && queue.loading) ? (
        <Loading />
      ) : !current ? (
        <Empty>{filtered ? t('nothingMatches') : t('noMatches')}</Empty>
      ) : (
        <div class="queue">
          <div class="rows">
            <ul ref={list} aria-label={t('matches')}>
              {rows.map((row, index) => (
                <li key={row.id} aria-current={row.id === current.id ? 'true' : undefined}>
                  <button type="button" class="plain" onClick={() => show(index)}>
                    <span>
                      {row.record.name} <span class="quiet">{row.record.code}</span>
                    </span>
                    <small>
                      {row.record.category?.name} · {row.reasons.map(({ rule }) => termText('matchRule', rule)).join(', ')}
                    </small>
                  </button>
                </li>
              ))}
            </ul>
          </div>
          <article aria-label={current.record.name} aria-live="polite">
            <div class="buttons">
              {isDecided || current.state === 'postponed' ? (
                <PermittedButton need="catalogue" aria-keyshortcuts="w" onClick={() => decide(current, 'withdraw')}>
                  {t('matchWithdraw')} <kbd>W</kbd>
                </PermittedButton>
              ) : (
                <PermittedButton need="catalogue" aria-keyshortcuts="l" onClick={() => decide(current, 'postpone')}>
                  {t('matchLater')} <kbd>L</kbd>
                </PermittedButton>
              )}
              {!isDecided && (
                <PermittedButton need="catalogue" aria-keyshortcuts="n" onClick={() => decide(current, 'separate')}>
                  {t('matchNewItem')} <kbd>N</kbd>
                </PermittedButton>
              )}
            </div>
            {current.decision && (
              <div class="buttons">
                <p>{t(`matchWas.${current.decision.kind}`, { author: current.decision.author, at: moment(current.decision.at) })}</p>
                <a class="button" href={`/console/catalogue/items/${current.decision.item_id}`}>
                  {t('matchItem', { id: String(current.decision.item_id) })}
                </a>
              </div>
            )}
            <Reasons of={current.reasons} />
            <div class="compared">
              <RecordSide key={current.id} match={current} />
              {current.candidates.map((candidate, n) => (
                <CandidateSide
                  key={candidate.item.id}
                  candidate={candidate}
                  digit={n < DIGITS ? n + 1 : null}
                  onAccept={isDecided ? null : () => decide(current, 'accept', { item_id: candidate.item.id })}
                />
              ))}
            </div>
          </article>
        </div>
      )}
      {queue.pagination && <Pages of={queue.pagination} link={link} />}
    </div>
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
