// The basket of a buyer, kept in a cookie: listings, quantities, and the prices that the buyer saw last. The buyer may change the cookie, so
// it is parsed strictly, and prices and stock are checked before they are used.

export interface BasketLine {
  listingId: number
  quantity: number
  /** price that the buyer saw, in kuruş */
  kurus: number
}

export const MAX_LINES = 20
export const MAX_QUANTITY = 99
const DAYS = 30
const LINE = /^([1-9]\d{0,8})x([1-9]\d?)~([1-9]\d{0,8})$/

/** Reads the header `Cookie`; whatever is not a line is left out. */
export function readBasket(header: string | undefined): BasketLine[] {
  const value = /(?:^|;\s*)basket=([^;]*)/.exec(header ?? '')?.[1] ?? ''
  const byId = new Map<number, BasketLine>()
  for (const part of value.split('.').slice(0, MAX_LINES)) {
    const [, id, quantity, kurus] = LINE.exec(part) ?? []
    if (id) byId.set(Number(id), { listingId: Number(id), quantity: Number(quantity), kurus: Number(kurus) })
  }
  return [...byId.values()]
}

/** The header `Set-Cookie`; an empty basket deletes the cookie. */
export function basketCookie(lines: readonly BasketLine[], secure: boolean): string {
  const value = lines.map(({ listingId, quantity, kurus }) => `${listingId}x${quantity}~${kurus}`).join('.')
  const seconds = lines.length === 0 ? 0 : DAYS * 86_400
  return `basket=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
}

/** @param stock units for sale @returns null if the basket has no room for another line */
export function addLine(lines: readonly BasketLine[], line: BasketLine, stock: number): BasketLine[] | null {
  const present = lines.find(({ listingId }) => listingId === line.listingId)
  if (!present) return lines.length < MAX_LINES ? [...lines, line] : null
  const quantity = Math.min(present.quantity + line.quantity, stock, MAX_QUANTITY)
  return lines.map((each) => (each === present ? { ...line, quantity } : each))
}

/** Applies the form of the basket: quantities, and the line to remove. */
export function changeLines(lines: readonly BasketLine[], form: URLSearchParams): BasketLine[] {
  return lines
    .filter(({ listingId }) => form.get('remove') !== String(listingId))
    .map((line) => {
      const quantity = Number(form.get(`quantity-${line.listingId}`))
      return Number.isInteger(quantity) && quantity >= 1 && quantity <= MAX_QUANTITY ? { ...line, quantity } : line
    })
}
