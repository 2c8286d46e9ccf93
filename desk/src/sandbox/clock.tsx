// The clock of the sandbox in which this tab works: the banner on every page, and the form that moves it.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { confirm } from '#ui/dialog.tsx'
import { Refusal } from '#ui/states.tsx'
import type { Sandbox } from '../../../client/src/api.ts'
import { request, useWrite } from '../api.ts'
import { moment, t, termText } from '../words.ts'
import { sandboxKey, workIn } from './sandbox-key.ts'

const POLL_MS = 500
const STEPS = { P1D: 'advanceDay', P7D: 'advanceWeek', P30D: 'advanceMonth' } as const

/** The sandbox as it was last seen. */
export const sandbox = signal<Sandbox | null>(null)

async function reload(): Promise<void> {
  const { data } = await request('GET', '/sandbox')
  sandbox.value = data[0] ?? null
}

/** Reloads the sandbox until the advance has ended. */
async function settle(): Promise<void> {
  while (sandbox.value?.status === 'advancing') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    await reload()
  }
}

/** On every page of a tab that works in a sandbox. */
export function SandboxBanner() {
  const inside = sandboxKey() !== null
  useEffect(() => {
    // The pages themselves say why nothing can be loaded.
    if (inside) void reload().then(settle, () => {})
  }, [inside])
  if (!inside) return null
  return (
    <aside class="sandbox-banner" aria-label={t('sandbox')}>
      <a href="/desk/sandbox">{t('sandbox')}</a>
      <output>{sandbox.value ? moment(sandbox.value.now) : '…'}</output>
      {sandbox.value && sandbox.value.status !== 'ready' && <span>{termText('sandboxStatus', sandbox.value.status)}</span>}
      <button type="button" onClick={() => workIn(null)}>
        {t('leaveSandbox')}
      </button>
    </aside>
  )
}

/** Buttons that move the clock; afterwards, pages load their data again. */
export function AdvanceButtons() {
  const { busy, error, write } = useWrite()
  const advance = async (by: string) => {
    const reply = await write('POST', '/sandbox/advance', { by })
    if (!reply) return
    sandbox.value = reply.data
    await settle()
  }
  const reset = async () => {
    if (!(await confirm({ title: t('resetSandboxTitle'), text: t('resetSandboxText'), action: t('resetSandbox') }))) return
    const reply = await write('POST', '/sandbox/reset')
    if (reply) sandbox.value = reply.data
  }
  const waits = busy || sandbox.value?.status === 'advancing'
  return (
    <>
      <div class="actions">
        {Object.entries(STEPS).map(([by, text]) => (
          <button key={by} type="button" disabled={waits} onClick={() => void advance(by)}>
            {t(text)}
          </button>
        ))}
        <button type="button" class="danger" disabled={waits} onClick={() => void reset()}>
          {t('resetSandbox')}
        </button>
      </div>
      <Refusal error={error} />
    </>
  )
}
