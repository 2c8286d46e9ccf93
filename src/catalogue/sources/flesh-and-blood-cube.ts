// Turns cards of the repository the-fab-cube/flesh-and-blood-cards (`card.json`) into the shape of the npm package, with the names of `set.json`.
import { identifier, isObject, type Json, text, texts } from './reading.ts'

const RARITIES: Readonly<Record<string, string>> = {
  B: 'Basic',
  C: 'Common',
  F: 'Fabled',
  L: 'Legendary',
  M: 'Majestic',
  P: 'Promo',
  R: 'Rare',
  S: 'Super Rare',
  T: 'Token',
  V: 'Marvel',
}
const EDITIONS: Readonly<Record<string, string>> = { A: 'Alpha', F: 'First', U: 'Unlimited' }
const FOILS: Readonly<Record<string, string>> = { R: 'Rainbow', C: 'Cold', G: 'Gold' }
const TREATMENTS: Readonly<Record<string, string>> = {
  AA: 'Alternate Art',
  AB: 'Alternate Border',
  AT: 'Alternate Text',
  EA: 'Extended Art',
  FA: 'Full Art',
  HS: 'Half Size',
}

/** Stores the name of a set by its code. @returns whether the row is a set of `set.json` */
export function learnSet(row: Json, names: Map<string, string>): boolean {
  if (!('unique_id' in row) || 'type_text' in row || !Array.isArray(row.printings)) return false
  const [code, name] = [identifier(row.id), identifier(row.name)]
  if (code !== undefined && name !== undefined) names.set(code, name)
  return true
}

/** The row itself unless it is a card of `card.json`. @param sets names of sets by code; a set without one is named by its code */
export function packageCard(row: Json, sets: ReadonlyMap<string, string>): Json {
  if (!('unique_id' in row) || !('type_text' in row)) return row
  const printings = Array.isArray(row.printings) ? row.printings : []
  const faces = printings.flatMap((printing: unknown) => (isObject(printing) ? facesOf(printing) : []))
  const seen = new Map<string, number>()
  return {
    cardIdentifier: row.unique_id,
    name: row.name,
    pitch: row.pitch,
    typeText: row.type_text,
    printings: printings.map((printing: unknown) => (isObject(printing) ? packagePrinting(printing, sets, seen) : printing)),
    ...(faces.some(({ is_front: front }) => front === false) && { isCardBack: true }),
    // Which cards these are does not matter: a card with this list is a front.
    ...(faces.some(({ is_front: front }) => front === true) && { oppositeSideCardIdentifiers: faces.map(({ other_face_unique_id: id }) => id) }),
  }
}

/** The other faces of a card with two; tokens printed on one card are cards of their own. */
function facesOf({ double_sided_card_info: info }: Json): Json[] {
  return (Array.isArray(info) ? info : []).filter(isObject).filter(({ is_DFC: twoFaces }) => twoFaces === true)
}

/** @param seen how often the card has been printed with this number, edition, foil and treatment: another picture is a version of its own */
function packagePrinting(printing: Json, sets: ReadonlyMap<string, string>, seen: Map<string, number>): Json {
  const { id, set_id: set, rarity, edition, foiling, artists, tcgplayer_product_id: productId, tcgplayer_url: url } = printing
  const treatments = (texts(printing.art_variations) ?? []).map((code) => TREATMENTS[code] ?? code)
  const print = [id, edition, foiling, ...treatments].join('-')
  const version = (seen.get(print) ?? 0) + 1
  seen.set(print, version)
  const code = text(set) ?? ''
  return {
    identifier: id,
    set: sets.get(code) ?? set,
    rarity: RARITIES[text(rarity) ?? ''] ?? rarity,
    edition: EDITIONS[text(edition) ?? ''],
    foiling: FOILS[text(foiling) ?? ''],
    treatments,
    artists,
    print: version === 1 ? print : `${print}-V${version}`,
    tcgplayer: { productId, url },
  }
}
