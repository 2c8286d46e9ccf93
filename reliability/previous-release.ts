// The previous release and its program, as it still runs during a rolling upgrade.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Tag or commit; set it to the commit of a release once that is published. */
export const PREVIOUS_RELEASE = 'b8c909d'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Whether the git history contains it; shallow clones and unpacked archives do not. */
export function hasPreviousRelease(): boolean {
  return spawnSync('git', ['cat-file', '-e', `${PREVIOUS_RELEASE}^{commit}`], { cwd: ROOT, stdio: 'ignore' }).status === 0
}

/**
 * Unpacks its program into a directory, with the packages and built pages of this checkout.
 * @returns its `src/main.ts`
 */
export function unpackPreviousRelease(dir: string): string {
  mkdirSync(dir)
  const packed = execFileSync('git', ['archive', PREVIOUS_RELEASE], { cwd: ROOT, maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x', '-C', dir], { input: packed })
  for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(dir, name))
  return join(dir, 'src/main.ts')
}
