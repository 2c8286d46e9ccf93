// The commands `settings list`, `settings set` and `settings undo`.
import type { Command } from 'commander'
import { call } from '#core/verb.ts'
import { changeSetting, undoSetting } from '#live-settings/change-setting.ts'
import { listSettings, type Setting } from '#live-settings/list-settings.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  const settings = program.command('settings').description('settings that can be changed while the service runs')
  const changed = (setting: Setting) => `${setting.name} is ${setting.value || 'empty'} (${setting.origin})`

  addCommand(settings, 'list', 'list them with their values and where those come from').action((options: OutputOptions) =>
    open(async (ctx) => {
      const all = await call(listSettings, ctx, {})
      const rows = all.map(({ name, value, origin, changed_by: by }) => [name, value, origin, by ?? ''])
      printResult(print, options, all, columns(['NAME', 'VALUE', 'FROM', 'CHANGED BY'], rows))
    }),
  )

  addCommand(settings, 'set', 'change a setting on all nodes, such as: settings set COMMISSION_PERCENT 12.5')
    .argument('<name>', 'name of the environment variable with the same meaning')
    .argument('[value]', 'in the notation of the environment variable; without it, the environment or the default applies again')
    .action((name: string, value: string | undefined, options: OutputOptions) =>
      open(async (ctx) => {
        const setting = await call(changeSetting, ctx, { name, value: value ?? null })
        printResult(print, options, setting, changed(setting))
      }),
    )

  addCommand(settings, 'undo', 'undo the last change of a setting')
    .argument('<name>', 'name of the setting')
    .action((name: string, options: OutputOptions) =>
      open(async (ctx) => {
        const setting = await call(undoSetting, ctx, { name })
        printResult(print, options, setting, changed(setting))
      }),
    )
}
