// Shapes of the marks in charts, which tell their meaning without colour.

/** SVG paths in a square of 10 by 10. */
export const shapePath = {
  dot: 'M5 1.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7z',
  triangle: 'M5 .5L9.8 9H.2z',
  square: 'M1.2 1.2h7.6v7.6H1.2z',
  diamond: 'M5 0l5 5l-5 5l-5-5z',
} as const

export type MarkShape = keyof typeof shapePath
