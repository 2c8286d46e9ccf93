// The schemas of a game's data files; `games/README.md` describes each field.
import { type Static, type TSchema, Type } from '#core/input.ts'

const closed = { additionalProperties: false } as const
const MAX_TEXT = 200
const MAX_ENTRIES = 5_000

const text = () => Type.String({ minLength: 1, maxLength: MAX_TEXT })
/** Text that may be empty: an empty replacement drops a word. */
const replacement = () => Type.String({ maxLength: MAX_TEXT })
const list = <T extends TSchema>(of: T) => Type.Array(of, { maxItems: MAX_ENTRIES })
const textsBy = <T extends TSchema>(value: T) => Type.Record(Type.String({ minLength: 1, maxLength: MAX_TEXT }), value)

/** The fields of search queries that an attribute can answer. */
export const SEARCH_FIELDS = ['rarity', 'finish', 'language', 'illustrator', 'card', 'type', 'regulation', 'product'] as const
export type SearchField = (typeof SEARCH_FIELDS)[number]

const GameFile = Type.Object(
  {
    name: text(),
    otherNames: Type.Optional(list(text())),
    shopNames: Type.Optional(Type.Object({ cardmarket: Type.Optional(text()), pricecharting: Type.Optional(text()) }, closed)),
  },
  closed,
)

const FinishesFile = Type.Object(
  {
    words: Type.Optional(textsBy(replacement())),
    plain: Type.Optional(list(text())),
    foil: Type.Optional(text()),
    foils: Type.Optional(list(text())),
    numbered: Type.Optional(list(text())),
    implied: Type.Optional(list(Type.Object({ by: list(text()), word: text() }, closed))),
    separate: Type.Optional(list(text())),
    alsoFound: Type.Optional(list(Type.Object({ with: Type.Optional(list(text())), without: Type.Optional(list(text())), word: text() }, closed))),
  },
  closed,
)

const RaritiesFile = Type.Object(
  {
    order: Type.Optional(list(Type.Object({ rank: Type.Integer({ minimum: 1, maximum: 1_000 }), rarities: list(text()) }, closed))),
    spellings: Type.Optional(textsBy(text())),
    capitalised: Type.Optional(list(text())),
    short: Type.Optional(textsBy(list(text()))),
  },
  closed,
)

const NumberFormFields = Type.Object(
  {
    set: Type.Optional(list(text())),
    separator: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
    number: list(text()),
    total: Type.Optional(Type.Boolean()),
  },
  closed,
)

const NumbersFile = Type.Object(
  {
    forms: Type.Optional(list(NumberFormFields)),
    setsWithoutTotal: Type.Optional(list(text())),
  },
  closed,
)

const NamesFile = Type.Object(
  {
    characters: Type.Optional(textsBy(replacement())),
    words: Type.Optional(textsBy(replacement())),
    optional: Type.Optional(list(text())),
    second: Type.Optional(textsBy(textsBy(text()))),
    omitted: Type.Optional(list(Type.Object({ first: text(), last: text() }, closed))),
    faces: Type.Optional(list(text())),
    endings: Type.Optional(list(Type.Object({ stage: Type.Optional(text()), suffix: Type.Optional(text()), text: text() }, closed))),
  },
  closed,
)

const SetsFile = Type.Object(
  {
    galleries: Type.Optional(list(text())),
    decimalPoints: Type.Optional(list(replacement())),
  },
  closed,
)

const LanguagesFile = Type.Object(
  {
    names: Type.Optional(textsBy(text())),
    families: Type.Optional(textsBy(list(text()))),
    ownItems: Type.Optional(Type.Boolean()),
    joined: Type.Optional(textsBy(text())),
  },
  closed,
)

const TermsFile = Type.Object(
  {
    stages: Type.Optional(textsBy(text())),
    cardTypes: Type.Optional(textsBy(text())),
  },
  closed,
)

const SealedFile = Type.Object(
  {
    aliases: Type.Optional(textsBy(replacement())),
    words: Type.Optional(list(text())),
  },
  closed,
)

/** The files of a game's folder, by name without `.json`; all but `game.json` are optional. */
export const FILES = {
  game: GameFile,
  finishes: FinishesFile,
  rarities: RaritiesFile,
  numbers: NumbersFile,
  names: NamesFile,
  sets: SetsFile,
  languages: LanguagesFile,
  terms: TermsFile,
  sealed: SealedFile,
  synonyms: list(Type.Object({ word: text(), means: text() }, closed)),
  attributes: textsBy(Type.Enum([...SEARCH_FIELDS])),
  species: list(text()),
} as const

export type FileName = keyof typeof FILES

/** What a folder states. */
export type GameData = { [name in FileName]?: Static<(typeof FILES)[name]> }

type Complete<T> = { readonly [field in keyof T]-?: Readonly<NonNullable<T[field]>> }

export type FinishRules = Complete<Static<typeof FinishesFile>>
export type RarityData = Complete<Static<typeof RaritiesFile>>
export type NameRules = Complete<Static<typeof NamesFile>>
export type SetRules = Complete<Static<typeof SetsFile>>
export type TermData = Complete<Static<typeof TermsFile>>
export type SealedData = Complete<Static<typeof SealedFile>>
export type LanguageData = Complete<Static<typeof LanguagesFile>>
export type NumberFormData = Static<typeof NumberFormFields>
export type SynonymData = Static<(typeof FILES)['synonyms']>[number]
