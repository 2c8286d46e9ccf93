// The finish words of item keys, and the names that price sources give the same printings.

const FINISHES: Readonly<Record<string, string>> = {
  normal: 'normal',
  unlimited: 'normal',
  holo: 'holo',
  holofoil: 'holo',
  'unlimited holo': 'holo',
  'unlimited holofoil': 'holo',
  'reverse holo': 'reverse',
  'reverse holofoil': 'reverse',
  '1st edition': 'firstEdition',
  '1st edition normal': 'firstEdition',
  '1st edition holo': 'firstEdition',
  '1st edition holofoil': 'firstEdition',
  foil: 'foil',
}

/**
 * Finish word of a printing as a source names it: `Reverse Holofoil`, `reverse-holofoil` → `reverse`.
 * @returns `normal`, `holo`, `reverse`, `firstEdition`, `foil`, or null for a printing that has no finish word
 */
export function finishOf(printing: string): string | null {
  const name = printing
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, ' ')
  return Object.hasOwn(FINISHES, name) ? FINISHES[name]! : null
}
