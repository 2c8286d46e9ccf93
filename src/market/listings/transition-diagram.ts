// Prints the transition table as Markdown: a diagram of the transitions, and the result of every action in every status.
import { ACTIONS, CONDITIONS, type Outcome, STATUSES, TABLE } from '../records/rules.ts'

const WHO: Record<(typeof ACTIONS)[number], string> = {
  reprice: 'owner',
  restock: 'owner',
  edit: 'owner',
  pause: 'owner',
  publish: 'owner',
  renew: 'owner',
  highlight: 'owner',
  delete: 'owner',
  approve: 'operator',
  reject: 'operator',
  reopen: 'operator',
  correct: 'operator',
  sell: 'checkout',
  restore: 'operator',
  expire: 'time',
}

/** Text of docs/listing-states.md. */
export function statesDocument(): string {
  return `# Listing states

Generated from the table in \`src/market/records/rules.ts\` by \`npx node src/market/listings/transition-diagram.ts\`; a test keeps both in sync.

\`\`\`mermaid
stateDiagram-v2
  [*] --> pending: submit
${arrows().join('\n')}
\`\`\`

A listing can be deleted in any status, permanently. A refused action does not change the status.

| Action | By | ${STATUSES.join(' | ')} |
|---|---|${STATUSES.map(() => '---').join('|')}|
${ACTIONS.map((action) => `| ${action} | ${WHO[action]} | ${STATUSES.map((status) => cell(TABLE[status][action])).join(' | ')} |`).join('\n')}
`
}

function arrows(): string[] {
  const transitions = new Map<string, string[]>()
  for (const from of STATUSES) {
    for (const action of ACTIONS) {
      for (const { to, when } of targets(TABLE[from][action])) {
        if (to === from || to === 'deleted') continue
        const key = `  ${from} --> ${to}`
        transitions.set(key, [...(transitions.get(key) ?? []), when ? `${action} (${when})` : action])
      }
    }
  }
  return [...transitions].map(([key, actions]) => `${key}: ${actions.join(' / ')}`)
}

function targets(outcome: Outcome): { to: string; when: string | null }[] {
  if ('refused' in outcome) return []
  if (!('when' in outcome)) return [{ to: outcome.to, when: null }]
  const { words } = CONDITIONS[outcome.when]
  const otherwise = targets(outcome.otherwise).map(({ to, when }) => ({ to, when: when ?? 'else' }))
  return [{ to: outcome.to, when: words }, ...otherwise]
}

function cell(outcome: Outcome): string {
  const found = targets(outcome)
  return found.length === 0 ? 'refused' : found.map(({ to, when }) => (when ? `${to} (${when})` : to)).join('; ')
}

if (import.meta.main) process.stdout.write(statesDocument())
