// Draws the picture of a sample item as SVG: a landscape in the colours of the card, its name and number. No art of others.
import { createHash } from 'node:crypto'

/** What is drawn of an item, as its line in the sample has it. */
export interface Drawn {
  name: string
  code: string | null
  slug: string
  genre: string
  game: string
  attributes: { name: string; value: string }[]
  details: { types?: string[] }
}

/** Sky at the top and above the horizon, then the land from far to near, then what stands out. */
type Palette = readonly [top: string, low: string, far: string, middle: string, near: string, accent: string]
type Scene = (palette: Palette, random: () => number) => string

const PALETTES: Readonly<Record<string, Palette>> = {
  Grass: ['#bfe3d0', '#f3f5d8', '#8cc29a', '#5a9a72', '#35694f', '#f2c14e'],
  Fire: ['#f6c28b', '#fbe8cf', '#e08e62', '#b9553f', '#7a2f2f', '#ffd9a0'],
  Water: ['#a9d3ea', '#eaf5f7', '#7fb7d6', '#4a88b5', '#2b5a86', '#fff3d6'],
  Lightning: ['#3d4a78', '#8a86b0', '#6d6a98', '#4b4a74', '#2d2d4d', '#ffd84d'],
  Psychic: ['#c9b6e4', '#f6e6f2', '#a78bc9', '#7a5fa5', '#4f3d78', '#fff0f6'],
  Fighting: ['#e7cfa9', '#f8eddb', '#c79b6b', '#96694a', '#5f4234', '#f7e3b0'],
  Darkness: ['#232a3b', '#4d5670', '#3d455c', '#2b3144', '#191d2a', '#e9e2c8'],
  Metal: ['#c4cdd4', '#eef1f2', '#9aa8b2', '#6f7f8b', '#4a5660', '#fbfbf5'],
  Dragon: ['#d8c37a', '#f6efcf', '#8fa27a', '#5b7a74', '#33525a', '#fff6d0'],
  Colorless: ['#d9e2ea', '#f7f3ea', '#c5c9c4', '#9fa7a5', '#77807f', '#ffffff'],
  Red: ['#f3b9a2', '#fdeee2', '#d97b66', '#b04a44', '#74282f', '#fff1d8'],
  Green: ['#b6dcc0', '#f2f6e2', '#7fb58d', '#4d8a6b', '#2c5a4a', '#fff6d0'],
  Blue: ['#a7c8ea', '#edf4fa', '#7aa3d0', '#476fa8', '#2a4577', '#fff4d9'],
  Purple: ['#c3b3df', '#f5ecf6', '#9a83c0', '#6d5798', '#44366b', '#ffeccb'],
  Black: ['#5b6068', '#b9bcbd', '#6f747b', '#484d54', '#2a2d33', '#f0e6cc'],
  Yellow: ['#f5dc9a', '#fdf6df', '#dcb765', '#b38a3f', '#755a2b', '#ffffff'],
}
const NEUTRAL: Palette = ['#d6d2c4', '#f4f0e4', '#b9b29c', '#8f8a78', '#625f54', '#fffaf0']

const SCENES: Readonly<Record<string, Scene>> = {
  Grass: (p, r) => sun(p, r) + land(p, r, hills) + times(5, () => tree(p[4], 20 + r() * 180, 196 + r() * 24, 14 + r() * 12)),
  Fire: (p, r) => sun(p, r) + land(p, r, peaks) + times(12, () => dot(p[5], r() * 222, 120 + r() * 110, 1 + r() * 1.6)),
  Water: (p, r) => sun(p, r) + land(p, r, waves),
  Lightning: (p, r) => stars(p, r, 14) + land(p, r, peaks) + bolt(p[5], 60 + r() * 100),
  Psychic: (p, r) => rings(p, r) + stars(p, r, 10) + land(p, r, hills),
  Fighting: (p, r) => sun(p, r) + land(p, r, peaks),
  Darkness: (p, r) => moon(p, r) + stars(p, r, 26) + land(p, r, peaks),
  Metal: (p, r) => sun(p, r) + times(9, () => hexagon(p[2], r() * 222, 30 + r() * 110, 10 + r() * 20)) + land(p, r, hills),
  Dragon: (p, r) => sun(p, r) + clouds(r, 3) + land(p, r, peaks),
  Colorless: (p, r) => sun(p, r) + clouds(r, 5) + land(p, r, hills),
}
const AT_SEA: Scene = (p, r) => sun(p, r) + clouds(r, 2) + boat(p, 60 + r() * 90) + land(p, r, waves)
const COMPASS: Scene = (p, r) => rings(p, r) + star(p[4], 111, 112, 70, 14) + star(p[3], 111, 112, 44, 12, 45) + dot(p[5], 111, 112, 7)

/** The picture of an item, the same for the same item. */
export function drawPicture(item: Drawn): string {
  const random = randomOf(item.slug)
  const value = (name: string) => item.attributes.find((attribute) => attribute.name === name)?.value ?? ''
  const kind = item.details.types?.[0] ?? value('Color').split('/')[0]!
  const palette = PALETTES[kind] ?? NEUTRAL
  const isSingle = item.genre === 'single'
  const scene = isSingle ? (item.game === 'onepiece' ? AT_SEA : (SCENES[kind] ?? COMPASS)) : boxes(item)
  const colours = isSingle ? palette : (Object.values(PALETTES)[Math.floor(random() * 16)] ?? NEUTRAL)
  const finish = value('Finish')
  const isFoil = /Holo|Parallel/.test(finish)
  const under = isSingle ? value('Rarity') : value('Contents')
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 250 350" width="500" height="700">',
    `<title>${escaped(item.name)}</title>`,
    '<defs>',
    `<linearGradient id="sky" x2="0" y2="1"><stop stop-color="${colours[0]}"/><stop offset=".75" stop-color="${colours[1]}"/></linearGradient>`,
    '<clipPath id="art"><rect width="222" height="240" rx="8"/></clipPath>',
    isFoil ? FOIL : '',
    '</defs>',
    `<rect width="250" height="350" rx="14" fill="${isFoil ? '#fbf6ea' : '#f6f1e6'}"/>`,
    `<rect x="5.5" y="5.5" width="239" height="339" rx="10" fill="none" stroke="${colours[3]}" stroke-opacity=".55"/>`,
    '<g transform="translate(14 14)" clip-path="url(#art)">',
    '<rect width="222" height="240" fill="url(#sky)"/>',
    scene(colours, random),
    isFoil ? '<rect width="222" height="240" fill="url(#foil)"/>' : '',
    '</g>',
    `<g fill="#2c2a26" font-family="Georgia, 'Times New Roman', serif">`,
    `<text x="125" y="281" text-anchor="middle" font-size="${sizeOf(item.name)}">${escaped(item.name)}</text>`,
    `<text x="125" y="302" text-anchor="middle" font-size="11" fill-opacity=".75">${escaped(shortened(under))}</text>`,
    `<path d="M20 314H230" stroke="${colours[3]}" stroke-opacity=".5"/>`,
    `<text x="20" y="331" font-size="11">${escaped(item.code ?? '')}</text>`,
    `<text x="230" y="331" text-anchor="end" font-size="10" font-style="italic" fill-opacity=".6">${escaped(finish && finish !== 'Normal' ? `${finish}, sample` : 'Sample')}</text>`,
    '</g></svg>\n',
  ].join('')
}

const FOIL = `<linearGradient id="foil" x2="1" y2="1">${['#ff9aa2', '#ffdf9e', '#b5ead7', '#9ad0f5', '#d7b5f0', '#ffb3c6']
  .map((colour, i) => `<stop offset="${i / 5}" stop-color="${colour}" stop-opacity="${i % 2 === 0 ? '.38' : '.1'}"/>`)
  .join('')}</linearGradient>`

const WIDTH = 222
const MAX_LINE_LENGTH = 34

function sizeOf(name: string): number {
  return Math.max(9, Math.min(21, Math.floor(380 / name.length)))
}

function shortened(text: string): string {
  return text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH - 1)}…` : text
}

type Ridge = (random: () => number, base: number) => string

/** Three layers, the nearest one lowest and darkest. */
function land([, , ...colours]: Palette, random: () => number, ridge: Ridge): string {
  return [150, 180, 208].map((base, i) => `<path d="${ridge(random, base)}V240H0Z" fill="${colours[i]}"/>`).join('')
}

function hills(random: () => number, base: number): string {
  const middle = Math.round(70 + random() * 80)
  const rise = () => Math.round(base - 34 + random() * 30)
  return `M0 ${base}Q${Math.round(middle / 2)} ${rise()} ${middle} ${base}T${WIDTH} ${rise()}`
}

function peaks(random: () => number, base: number): string {
  let path = `M0 ${base}`
  for (let x = 0; x < WIDTH; ) {
    const width = 30 + random() * 34
    path += `L${Math.round(x + width / 2)} ${Math.round(base - 16 - random() * 46)}L${Math.round(Math.min(WIDTH, x + width))} ${Math.round(base + random() * 8)}`
    x += width
  }
  return path
}

function waves(random: () => number, base: number): string {
  const length = Math.round(26 + random() * 14)
  return `M${-Math.round(random() * length)} ${base}${`q${length / 2} -13 ${length} 0`.repeat(Math.ceil(WIDTH / length) + 2)}`
}

function sun(palette: Palette, random: () => number): string {
  const [x, y] = [40 + random() * 140, 46 + random() * 50]
  return dot(palette[5], x, y, 34, 0.35) + dot(palette[5], x, y, 22)
}

function moon(palette: Palette, random: () => number): string {
  const [x, y] = [60 + random() * 110, 50 + random() * 30]
  return dot(palette[5], x, y, 24) + dot(palette[0], x + 10, y - 6, 21)
}

function rings(palette: Palette, random: () => number): string {
  const y = 84 + random() * 24
  return [70, 52, 34, 16].map((radius, i) => dot(palette[5], 111, y, radius, 0.2 + i * 0.16)).join('')
}

function stars(palette: Palette, random: () => number, count: number): string {
  return times(count, () => dot(palette[5], random() * WIDTH, random() * 130, 0.7 + random() * 1.3, 0.9))
}

function clouds(random: () => number, count: number): string {
  return times(count, () => {
    const [x, y, size] = [random() * 190, 30 + random() * 80, 10 + random() * 8]
    return `<g fill="#fff" fill-opacity=".75">${[0, 1, 2].map((i) => `<circle cx="${at(x + i * size)}" cy="${at(y - (i === 1 ? size / 2 : 0))}" r="${at(size * (i === 1 ? 0.9 : 0.7))}"/>`).join('')}</g>`
  })
}

function boat(palette: Palette, x: number): string {
  return `<g transform="translate(${at(x)} 80)"><path d="M30 0V58M30 6C52 14 54 36 34 48H30ZM26 14C12 22 8 36 10 48H26Z" fill="#fffaf0" stroke="${palette[4]}" stroke-width="1.5"/><path d="M0 56H60L50 72H12Z" fill="${palette[4]}"/></g>`
}

function bolt(colour: string, x: number): string {
  return `<path d="M${at(x + 26)} 18L${at(x)} 96H${at(x + 22)}L${at(x + 8)} 168L${at(x + 50)} 76H${at(x + 28)}L${at(x + 44)} 18Z" fill="${colour}"/>`
}

function tree(colour: string, x: number, y: number, size: number): string {
  return `<path d="M${at(x)} ${at(y - size * 2)}L${at(x + size * 0.7)} ${at(y)}H${at(x - size * 0.7)}Z" fill="${colour}"/>`
}

function hexagon(colour: string, x: number, y: number, size: number): string {
  const points = [0, 1, 2, 3, 4, 5].map((i) => `${at(x + size * Math.cos((i * Math.PI) / 3))},${at(y + size * Math.sin((i * Math.PI) / 3))}`)
  return `<polygon points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2" stroke-opacity=".7"/>`
}

function star(colour: string, x: number, y: number, outer: number, inner: number, turn = 0): string {
  const points = Array.from({ length: 8 }, (_, i) => {
    const [radius, angle] = [i % 2 === 0 ? outer : inner, ((i * 45 - 90 + turn) * Math.PI) / 180]
    return `${at(x + radius * Math.cos(angle))},${at(y + radius * Math.sin(angle))}`
  })
  return `<polygon points="${points.join(' ')}" fill="${colour}"/>`
}

/** A box, a pack or a deck, by the name of the product; several of a bundle. */
function boxes({ name, genre }: Drawn): Scene {
  const [width, height] = name.endsWith('Pack') ? [70, 120] : /Deck/.test(name) ? [66, 96] : [110, 84]
  const places =
    genre === 'bundle'
      ? [
          [70, 128, 0.62],
          [152, 128, 0.62],
          [111, 206, 0.7],
        ]
      : [[111, 186, 1]]
  return (palette) => places.map(([x, y, scale]) => `<g transform="translate(${x} ${y}) scale(${scale})">${box(palette, width, height)}</g>`).join('')
}

function box(palette: Palette, width: number, height: number): string {
  const [left, depth] = [-width / 2, 22]
  return [
    `<path d="M${left} ${-height}l${depth} ${-depth / 1.4}h${width}l${-depth} ${depth / 1.4}Z" fill="${palette[2]}"/>`,
    `<path d="M${-left} ${-height}l${depth} ${-depth / 1.4}v${height}l${-depth} ${depth / 1.4}Z" fill="${palette[4]}"/>`,
    `<rect x="${left}" y="${-height}" width="${width}" height="${height}" fill="${palette[3]}"/>`,
    star(palette[5], 0, -height / 2, Math.min(width, height) * 0.36, Math.min(width, height) * 0.1),
    `<rect x="${left + 5}" y="${-height + 5}" width="${width - 10}" height="${height - 10}" fill="none" stroke="${palette[5]}" stroke-opacity=".6"/>`,
  ].join('')
}

function dot(colour: string, x: number, y: number, radius: number, opacity = 1): string {
  return `<circle cx="${at(x)}" cy="${at(y)}" r="${at(radius)}" fill="${colour}"${opacity < 1 ? ` fill-opacity="${at(opacity)}"` : ''}/>`
}

function times(count: number, draw: () => string): string {
  return Array.from({ length: count }, draw).join('')
}

function at(value: number): number {
  return Math.round(value * 10) / 10
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

/** Numbers in [0, 1) that follow from the key alone. */
function randomOf(key: string): () => number {
  let count = 0
  return () => {
    count += 1
    return createHash('sha256').update(`${key} ${count}`).digest().readUInt32BE(0) / 2 ** 32
  }
}
