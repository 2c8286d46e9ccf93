// First steps of a new service: what is missing, with links to set it up.
import { Heading } from '#ui/heading.tsx'
import { Await, Status } from '#ui/states.tsx'
import { useData } from '../api.ts'
import type { FirstSteps } from '../api-types.ts'
import { PublicSources } from '../ui/public-sources.tsx'
import { t, termText } from '../words.ts'

const REFRESH_MS = 10_000

export function FirstStepsPage() {
  const steps = useData('/first-steps', { again: ({ done }) => (done ? null : REFRESH_MS) })
  return (
    <>
      <Heading>{t('firstSteps')}</Heading>
      <Await of={steps}>
        {(found) => (
          <>
            <p>{t(found.steps.every(({ done }) => done) ? 'firstStepsDone' : 'firstStepsText')}</p>
            <Steps of={found} />
            <PublicSources />
          </>
        )}
      </Await>
    </>
  )
}

function Steps({ of: { steps } }: { of: FirstSteps }) {
  const next = steps.find(({ done }) => !done)
  return (
    <ol class="first-steps">
      {steps.map((each) => (
        <li key={each.step} aria-current={each === next ? 'step' : undefined}>
          <Status code={each.done ? 'done' : 'open'} />
          <div>
            <a href={addressOf(each)}>{termText('step', each.step)}</a>
            <p class="quiet">{termText('stepText', each.step)}</p>
          </div>
        </li>
      ))}
    </ol>
  )
}

function addressOf({ step, subject_id: id }: FirstSteps['steps'][number]): string {
  switch (step) {
    case 'owner':
      return '/console/people'
    case 'catalogue':
    case 'prices':
      return '/console/imports'
    case 'rates':
      return '/console/rates'
    case 'account':
      return '/console/accounts'
    case 'key':
      return id === null ? '/console/accounts' : `/console/accounts/${id}`
    case 'listing':
      return '/console/listings'
  }
}
