// The settings of a running node: those of the environment, changed by what operators have stored, and kept up to date by the change feed.
import type { Log } from '#core/context.ts'
import type { ChangeFollower, ChangeRow } from '#db/changes/change-feed.ts'
import type { Queryable } from '#db/schema.ts'
import { CHANGEABLE_NAMES, type ChangeableName } from '#settings.ts'
import type { Config } from '#config.ts'
import { CHANGEABLE, type LiveConfig } from './changeable.ts'

/** A copy whose settings can change: `readConfig` returns a frozen object. */
export function liveConfig(config: Config): LiveConfig {
  const sourceCurrencies = { ...config.sourceCurrencies }
  return { ...config, marketNames: { ...config.marketNames }, sourceCurrencies, priceRules: { ...config.priceRules, currencies: sourceCurrencies } }
}

/** The text that applies without a stored one. */
export function givenText({ environment }: Pick<Config, 'environment'>, name: ChangeableName): string {
  const text = environment[name]
  return text === undefined ? CHANGEABLE[name].fallback : CHANGEABLE[name].normal(text)
}

/** Applies what operators have stored. A text that this release does not accept, because another one stored it, is logged and ignored. */
export async function applyStored(config: LiveConfig, on: Queryable, log: Pick<Log, 'warn'>): Promise<void> {
  const rows = await on.selectFrom('service_settings').select(['name', 'value']).execute()
  const stored = new Map(rows.map(({ name, value }) => [name, value]))
  for (const name of CHANGEABLE_NAMES) {
    const text = stored.get(name)
    try {
      CHANGEABLE[name].apply(config, text ?? givenText(config, name))
    } catch (error) {
      log.warn({ setting: name, reason: (error as Error).message }, 'Ignored a stored setting with an invalid value')
      CHANGEABLE[name].apply(config, givenText(config, name))
    }
  }
}

/** Follows changes of settings; add it before followers that use them. */
export function settingsFollower(config: LiveConfig, on: Queryable, log: Pick<Log, 'warn'>): ChangeFollower {
  const reload = () => applyStored(config, on, log)
  return {
    reload,
    apply: async (changes: ChangeRow[]) => {
      if (changes.some(({ kind }) => kind === 'settings')) await reload()
    },
  }
}
