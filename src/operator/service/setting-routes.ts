// Operator API: settings that can be changed while the service runs.
import { Type } from '#core/input.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import type { Answer } from '#http/envelope.ts'
import type { Route } from '#http/route.ts'
import { changeSetting, type SettingsWriteCtx, undoSetting } from '#live-settings/change-setting.ts'
import { listSettings, type Setting, SettingSchema } from '#live-settings/list-settings.ts'

const tag = 'Settings'
const CONDITION = 'Accepts `If-Match` with the `etag` of the setting: 412 if it has changed since you read it.'

const answerWith =
  (message: MessageText) =>
  (setting: Setting): Answer => ({ data: setting, etag: setting.etag, message })

export const settingRoutes: Route<SettingsWriteCtx>[] = [
  {
    method: 'GET',
    path: '/settings',
    verb: listSettings,
    summary: 'List the settings that can be changed while the service runs',
    description:
      'Each with its value and where that comes from: the default, the environment, or a change by an operator. Secrets are not among them.',
    tag,
    answer: (settings: Setting[]) => ({ data: settings }),
    data: Type.Array(SettingSchema),
  },
  {
    method: 'PATCH',
    path: '/settings/:name',
    verb: changeSetting,
    summary: 'Change a setting on all nodes',
    description: `Takes effect within a second, and takes precedence over the environment. Currencies of sources that have prices cannot change. ${CONDITION}`,
    tag,
    answer: answerWith('Setting updated'),
    data: SettingSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'PRECONDITION_FAILED'],
  },
  {
    method: 'POST',
    path: '/settings/:name/undo',
    verb: undoSetting,
    summary: 'Undo the last change of a setting',
    description: `Restores the value before it. ${CONDITION}`,
    tag,
    answer: answerWith('Setting restored'),
    data: SettingSchema,
    errors: ['CONFLICT', 'PRECONDITION_FAILED'],
  },
]
