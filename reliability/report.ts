// Reports a run: progress lines, a final table of findings, and whether a promise was broken.

export interface Finding {
  what: string
  /** formatted for people */
  value: string | number
  /** the promised value; undefined for a figure without a promise */
  promised?: string
  holds?: boolean
  /** for times and memory: whether the value is within the limit for a busy machine */
  holdsUnderLoad?: boolean
}

export function count(what: string, value: number, promised: number): Finding {
  return { what, value, promised: String(promised), holds: value === promised }
}

/** @param underLoad the maximum on a busy machine, where tests run; by default any value is accepted there */
export function atMost(what: string, value: number, maximum: number, unit = '', underLoad = Infinity): Finding {
  return { what, value: `${round(value)}${unit}`, promised: `≤ ${maximum}${unit}`, holds: value <= maximum, holdsUnderLoad: value <= underLoad }
}

export function figure(what: string, value: string | number): Finding {
  return { what, value: typeof value === 'number' ? round(value) : value }
}

export function spread(what: string, values: readonly number[], unit = ' ms'): Finding {
  return { what, value: `p50 ${round(percentile(values, 0.5))}, max ${round(Math.max(...values))}${unit} (${values.length})` }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function progress(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
}

export function broken(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ holds }) => holds === false)
}

/** Findings that are broken even on a busy machine, as tests check them. Only full runs on an idle machine check all times and memory. */
export function brokenUnderLoad(findings: readonly Finding[]): Finding[] {
  return broken(findings).filter(({ holdsUnderLoad }) => holdsUnderLoad !== true)
}

/** Prints the table; the process exits with 1 if a promise is broken. */
export function conclude(title: string, findings: readonly Finding[]): void {
  const rows = findings.map(({ what, value, promised = '', holds }) => [
    what,
    String(value),
    promised,
    holds === undefined ? '' : holds ? 'holds' : 'BROKEN',
  ])
  const all = [['', 'found', 'promised', ''], ...rows]
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]!.length)))
  console.log(`\n${title}`)
  for (const row of all)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  if (broken(findings).length > 0) process.exitCode = 1
}

function round(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 100) / 100
}
