// Completes the data of one folder by that of another.
import type { GameData } from './schema.ts'

/** Combines two folders: lists are joined, the later one's entries last; in objects its entries win, and so do its single values. */
export function mergeData(earlier: GameData, later: GameData): GameData {
  return merged(earlier, later) as GameData
}

function merged(earlier: unknown, later: unknown): unknown {
  if (later === undefined) return earlier
  if (Array.isArray(earlier) && Array.isArray(later)) return [...new Set([...(earlier as unknown[]), ...(later as unknown[])])]
  if (!isObject(earlier) || !isObject(later)) return later
  const all: Record<string, unknown> = { ...earlier }
  for (const [name, value] of Object.entries(later)) all[name] = merged(earlier[name], value)
  return all
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
