// Rarities in order, most common first, for queries such as `r>=rare`; new games and sets extend this data.

/** Rarities of the same rank are grouped; words are compared ignoring case. */
export const RARITY_STEPS: readonly (readonly string[])[] = [
  ['Common', 'One Diamond'],
  ['Uncommon', 'Two Diamond'],
  ['Rare', 'Three Diamond', 'Leader'],
  ['Rare Holo', 'Four Diamond', 'Classic Collection'],
  ['Promo'],
  [
    'Double Rare',
    'Rare Holo LV.X',
    'Rare Prime',
    'Rare Holo EX',
    'Rare Holo GX',
    'Rare Holo V',
    'Radiant Rare',
    'Amazing Rare',
    'Super Rare',
    'One Star',
  ],
  ['Triple Rare', 'Rare Holo VMAX', 'Rare Holo VSTAR', 'LEGEND', 'ACE SPEC Rare', 'Character Rare'],
  ['Ultra Rare', 'Illustration Rare', 'Shiny Rare', 'Shiny Rare V', 'Shiny Rare VMAX', 'Character Super Rare', 'Two Star', 'One Shiny'],
  ['Secret Rare', 'Special Illustration Rare', 'Shiny Ultra Rare', 'Three Star', 'Two Shiny', 'Special', 'Black White Rare'],
  ['Hyper Rare', 'Mega Hyper Rare', 'Treasure Rare', 'Crown'],
]
