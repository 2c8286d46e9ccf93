// The log on standard error: human-readable on a terminal, JSON otherwise.
import { type Logger, pino } from 'pino'
import type { Config } from '../../config.ts'
import type { TextLog } from '#core/context.ts'

/** @param sync whether a line is written before the call returns, so that none is lost when the process ends */
export async function openLog(level: Config['logLevel'], { sync = false } = {}): Promise<Logger> {
  if (!process.stderr.isTTY) return pino({ level, name: 'mintmark' }, pino.destination({ dest: 2, sync }))
  const { default: pretty } = await import('pino-pretty')
  return pino({ level }, pretty({ destination: 2, sync: true, ignore: 'pid,hostname', singleLine: true, translateTime: 'SYS:HH:MM:ss' }))
}

/** The same log for modules that only write text. */
export function textLog(log: Logger): TextLog {
  return { info: (message) => log.info(message), warn: (message) => log.warn(message) }
}
