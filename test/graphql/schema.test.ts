// The schema as integrators see it: the committed SDL, the promises of the interface, and a description of everything.
import { readFileSync } from 'node:fs'
import { buildSchema as buildFromSdl, isEnumType, isInputObjectType, isIntrospectionType, isObjectType, isScalarType, printSchema } from 'graphql'
import { describe, expect, test } from 'vitest'
import { GRAPHQL_ITEM_FIELDS_FROM_PROFESSIONAL } from '#core/plans.ts'
import { graphqlSchema } from '#graphql/schema.ts'

const schema = graphqlSchema()

test('docs/schema.graphql is up to date (update it with `npm run schema`)', () => {
  const committed = readFileSync(new URL('../../docs/schema.graphql', import.meta.url), 'utf8')
  expect(committed).toBe(`${printSchema(schema)}\n`)
})

describe('contains the documented types and fields', () => {
  const INTERFACE = `
    type Query {
      categories(game: String, market: String, parentId: ID): CategoryConnection!
      category(id: ID!): Category
      items(game: String, market: String, search: String, categoryId: ID, first: Int, after: String, sortBy: String,
        sortOrder: String): ItemConnection!
      item(id: ID!): Item
      groups: [GradeGroup!]!
      markets: [PriceMarket!]!
      listing(id: ID!): Listing
      me: Me!
      changes(after: String, kinds: [String!], wait: Int, limit: Int): ChangePage!
      dump: Dump
      suggestItems(q: String): [Suggestion!]!
      lookupItems(ids: [ItemIdentifierInput!]!): [LookedUpItem!]!
      events(after: String, wait: Int, limit: Int): AccountEvents
      orders(orderId: Float, listingId: Int, from: String, to: String, page: Int, perPage: Int): OwnSales
      statement(month: String, page: Int, perPage: Int): Statement
      payoutPreview(price: Float, net: Float): PayoutPreview
      listingVisibility(listingId: ID!): ListingVisibility
      priceJobs(ruleId: Int, page: Int, perPage: Int): [PriceJob!]!
      priceJob(id: ID!): PriceJob
      vacation: Vacation
      sandboxes: [Sandbox!]!
      repricingRules: [RepricingRule!]!
      offers(status: String, listingId: Int, page: Int, perPage: Int): Offers
      collectionProfit(collectionId: ID!, currency: String, moneys: [String!], until: String): CollectionProfit
      collectionLots(collectionId: ID!, itemId: ID!, currency: String): [CollectionLot!]!
      collectionDisposals(collectionId: ID!, itemId: ID!, currency: String): [CollectionDisposal!]!
      watches(kind: String, itemId: ID, collectionId: ID, page: Int, perPage: Int): Watches
      watch(id: ID!): Watch
      collectionWorthHistory(collectionId: ID!, from: String, to: String): [CollectionWorthDay!]!
      collection(collectionId: ID!): Collection
      collectionCompletion(
        collectionId: ID!
        categoryId: ID
        query: String
        goal: String
        language: String
        page: Int
        perPage: Int
        withOwned: Boolean
      ): CollectionCompletion
      collectionSets(collectionId: ID!, goal: String, language: String, page: Int, perPage: Int): CollectionSets
    }
    type Sandbox { id: ID! status: String! now: String! startsAt: String! seed: Int! last4: String! createdAt: String! lastUsedAt: String! removedAfter: String! problem: String fired: [Fired!]! firedTotal: Int! }
    type Fired { at: String! action: String! subject: String! id: String! attempt: Int success: Boolean }
    type Collection { id: ID! name: String! description: String! visibility: String! itemsCount: Int! method: String! sharedUrl: String }
    type CollectionCompletion {
      goal: String!
      language: String!
      owned: Int!
      of: Int!
      percent: Float
      missing: [MissingCard!]!
      cards: [GoalCard!]
      costToFinish: CostToFinish!
      duplicates: Duplicates!
      pagination: PageNumbers!
    }
    type MissingCard {
      itemId: ID!
      name: String!
      number: String
      slug: String!
      finish: String
      categoryId: ID!
      image: String
      price: MissingCardPrice
      offer: MissingCardOffer
    }
    type GoalCard {
      itemId: ID!
      name: String!
      number: String
      slug: String!
      finish: String
      categoryId: ID!
      image: String
      copies: Int!
    }
    type MissingCardPrice { market: String! label: String! currency: String! amount: Float! state: String! }
    type MissingCardOffer { listingId: ID! itemId: ID! label: String! currency: String! amount: Float! }
    type CostToFinish { market: MarketCostToFinish! listings: ListingsCostToFinish! }
    type MarketCostToFinish { currencies: [CurrencyAmount!]! priced: Int! unpriced: Int! }
    type ListingsCostToFinish { currency: String! amount: Float! offered: Int! notOffered: Int! }
    type CurrencyAmount { currency: String! amount: Float! }
    type Duplicates { items: Int! copies: Int! currencies: [CurrencyAmount!]! unpriced: Int! most: [DuplicateItem!]! }
    type DuplicateItem { itemId: ID! name: String! number: String slug: String! copies: Int! }
    type CollectionSets { sets: [SetCompletion!]! pagination: PageNumbers! }
    type SetCompletion {
      categoryId: ID!
      name: String!
      slug: String!
      game: String!
      image: String
      owned: Int!
      of: Int!
      percent: Float
    }
    type CollectionWorthDay { day: String! at: String! currencies: [CollectionWorthAmounts!]! withoutPrice: Int! withoutTrustedPrice: Int! withoutCost: Int! }
    type CollectionWorthAmounts { currency: String! value: Float! cost: Float! gain: Float }
    type ChangePage { changes: [Change!]! next: String! more: Boolean! }
    type Change { cursor: String! kind: String! id: ID! itemId: ID market: String label: String at: String! }
    type Dump { asOf: String! changeCursor: String! files: [DumpFile!]! }
    type DumpFile { name: String! rows: Int! bytes: Float! sha256: String! }
    type Listing {
      id: ID!
      title: String!
      slug: String!
      price: Float!
      item: Item
      pcMultiplier: Float
      averagePrice: Float
      lastSales: [ItemSale!]
      explain: ListingExplanation
      grade: ListingGrade
      language: String
      quantity: Int
      images: [ListingImage!]
      shippingPayer: String
      offersEnabled: Boolean
      highlightedUntil: String
      publishedAt: String
      expiresAt: String
      status: String
      approvedPrice: Float
      description: String
      minOfferPrice: Float
      rejectionReason: String
      sku: String
      changedBy: ListingChangedBy
      certificate: Certificate
      etag: String
    }
    type Certificate { grader: String! grade: String! cert: String! qualifier: String subgrades: CertificateSubgrades }
    type CertificateSubgrades { centering: Float corners: Float edges: Float surface: Float }
    type Vacation { from: String! to: String! }
    type RepricingTarget { kind: String! market: String factor: Float amount: Float }
    type RepricingScope { kind: String! ids: [ID!] skus: [String!] game: String categoryId: ID }
    type RepricingFloor { price: Float payout: Float }
    type RepricingRule {
      id: ID!
      name: String!
      enabled: Boolean!
      target: RepricingTarget!
      scope: RepricingScope!
      floor: RepricingFloor!
      ceiling: Float
      maxMovePercent: Float
      minComparables: Int!
      simulatedAt: String
      lastRunAt: String
    }
    type PayoutPreview { price: Float! commission: Float! payout: Float! }
    type VisibilityReason { code: String! since: String whatToDo: String! rejectionReason: String changeRequested: Boolean! }
    type ListingVisibility { visible: Boolean! reasons: [VisibilityReason!]! }
    type ListingChangedBy { kind: String! id: ID! at: String! }
    type PriceJob {
      id: ID!
      state: String!
      policy: String!
      rowsTotal: Int!
      ruleId: ID
      rowsRefused: Int!
      changed: Int!
      reversed: Int!
      kept: Int!
      failed: Int!
      createdAt: String!
      expiresAt: String!
      appliedAt: String
      undoneAt: String
      ignoredColumns: [String!]!
      rows(first: Int, after: String): PriceJobRowConnection!
    }
    type PriceJobRowConnection { nodes: [PriceJobRow!]! pageInfo: PageInfo! }
    type PriceJobRow {
      row: Int!
      listingId: ID
      sku: String
      oldPrice: Float
      newPrice: Float
      oldQuantity: Int
      newQuantity: Int
      payout: Float
      rank: Int
      refused: [PriceJobRefusal!]
      marketPrice: Float
      warnings: [PriceJobWarning!]!
      outcome: String
      why: String
    }
    type PriceJobWarning { message: String! rule: String }
    type PriceJobRefusal { field: String! message: String! rule: String }
    type ListingGrade { id: ID! label: String! }
    type ListingImage { url: String! order: Int! }
    type ItemSale { price: Float! soldAt: String! }
    type ListingExplanation { pcMultiplier: ComputedFigure! averagePrice: ComputedFigure! }
    type ComputedFigure { result: Float rule: FigureRule! inputs: [FigureInput!]! }
    type FigureRule { name: String! version: Int! }
    type FigureInput {
      kind: String!
      market: String!
      amount: Float!
      currency: String!
      at: String
      state: String
      used: Boolean!
      reason: String!
    }
    type Me {
      account: MyAccount!
      key: MyKey!
      limits: MyLimits!
      usage: [DailyUsage!]!
      highlightCredits: Int!
      listingIntakeOpen: Boolean!
    }
    type MyAccount { id: ID! name: String! plan: String! }
    type MyKey {
      label: String!
      last4: String!
      expiresAt: String
      readOnly: Boolean!
      strict: Boolean!
      allowedOrigins: [String!]!
      allowedAddresses: [String!]!
    }
    type MyLimits { requestsPerMinute: Int }
    type DailyUsage { day: String! operation: String! requests: Int! }
    type GradeGroup {
      id: ID!
      name: String!
      slug: String!
      types: [Grade!]!
    }
    type Grade {
      id: ID!
      label: String!
      slug: String!
    }
    type PriceMarket {
      code: String!
      name: String!
      currency: String!
      use: String!
      licence: String
      lastPriceAt: String
    }
    type PageNumbers { currentPage: Int! perPage: Int! total: Int! lastPage: Int! hasMore: Boolean! }
    type OwnSales { lines: [OwnSale!]! pagination: PageNumbers! }
    type OwnSale {
      orderId: Float!
      line: Int!
      listingId: ID
      item: Item
      label: String!
      quantity: Int!
      unitPrice: Float!
      commission: Float!
      payout: Float!
      soldAt: String!
      cancelledAt: String
      refunded: Float!
    }
    type Statement {
      month: String!
      sales: Float!
      refunds: Float!
      commission: Float!
      payout: Float!
      lines: [StatementLine!]!
      pagination: PageNumbers!
    }
    type StatementLine {
      orderId: Float!
      line: Int!
      listingId: ID
      item: Item
      label: String!
      quantity: Int!
      unitPrice: Float!
      commission: Float!
      payout: Float!
      kind: String!
      at: String!
      amount: Float!
    }
    type AccountEvents { events: [AccountEvent!]! next: String! }
    type AccountEvent { id: String! cursor: String! event: String! sentAt: String! data: AccountEventData! delivered: Boolean! }
    type CollectionProfit { method: String! currency: String! until: String! realised: Float! unrealised: Float fees: Float! cost: Float! value: Float xirr: Float basis: [ProfitBasis!]! cpiMonth: String priced: Int! unpriced: Int! disputed: Int! unproven: Int! stale: Int! withoutCost: Int! withoutRate: Int! best: [ProfitRecord!]! worst: [ProfitRecord!]! moneys: [CollectionProfitInMoney!] }
    type CollectionProfitInMoney { method: String! currency: String! until: String! realised: Float! unrealised: Float fees: Float! cost: Float! value: Float xirr: Float basis: [ProfitBasis!]! cpiMonth: String priced: Int! unpriced: Int! disputed: Int! unproven: Int! stale: Int! withoutCost: Int! withoutRate: Int! best: [ProfitRecord!]! worst: [ProfitRecord!]! }
    type ProfitRecord { recordId: ID! itemId: ID! itemName: String! groupLabel: String quantity: Int! gain: Float! }
    type ProfitBasis { kind: String! market: String! records: Int! value: Float! }
    type CollectionLot { id: ID acquiredAt: String! quantity: Int! unitCost: Float fees: Float! currency: String! source: String! money: String! cost: Float rest: Int! restCost: Float realised: Float value: Float gain: Float }
    type CollectionDisposal { id: ID! at: String! quantity: Int! gross: Float! fees: Float! shipping: Float! currency: String! orderId: Float line: Int returnedAt: String money: String! net: Float cost: Float realised: Float withoutCost: Int! }
    type Offers { offers: [Offer!]! pagination: PageNumbers! }
    type Offer {
      id: ID!
      listingId: ID
      title: String!
      listingPrice: Float!
      quantity: Int!
      unitPrice: Float!
      counterPrice: Float
      status: String!
      payout: Float!
      orderId: Float
      createdAt: String!
      changedAt: String!
      expiresAt: String!
    }
    type Watches { watches: [Watch!]! pagination: PageNumbers! }
    type Watch {
      id: ID!
      kind: String!
      itemId: ID
      itemName: String
      label: String
      language: String
      amount: Float
      currency: String
      collectionId: ID
      collectionName: String
      categoryId: ID
      categoryName: String
      goal: String
      complete: Boolean
      toldOn: String
      createdAt: String!
      updatedAt: String!
    }
    type AccountEventData {
      watchId: ID
      kind: String
      itemId: ID
      itemName: String
      label: String
      amount: Float
      price: Float
      currency: String
      market: String
      listingId: Int!
      offerId: ID
      counterPrice: Float
      status: String
      expiresAt: String
      orderId: Float
      quantity: Int
      unitPrice: Float
      sellerPayout: Float
      soldAt: String
      title: String
      expiredAt: String
      collectionId: ID
      collectionName: String
      categoryId: ID
      categoryName: String
      goal: String
      language: String
      of: Int
      missingCount: Int
      missing: [MissingCardOfGoal!]
    }
    type MissingCardOfGoal { itemId: ID! name: String! number: String }
    type Suggestion { id: ID! name: String! code: String category: Category image: String }
    type LookedUpItem { state: String! item: Item candidates: [Item!] }
    input ItemIdentifierInput { source: String id: String set: String number: String finish: String }
    type Item {
      id: ID!
      name: String!
      code: String
      slug: String
      genre: String
      game: String
      category: Category
      images: [ItemImage!]
      prices: [Price!]
      groups: [ItemGroup!]
      attributes: [ItemAttribute!]
      rarity: String
      illustrator: String
      hp: Int
      types: [String!]
      dexIds: [Int!]
      stage: String
      evolveFrom: String
      suffix: String
      level: Int
      priceHistory(market: String, label: String, from: String, to: String, interval: String): [PricePeriod!]
      priceChart(label: String, currency: String, range: String): PriceChart
    }
    type PriceChart {
        label: String!
        labels: [String!]!
        currency: String!
        currencies: [String!]!
        range: String!
        from: String!
        to: String!
        series: [PriceChartSeries!]!
        sales: [PriceChartSale!]
        salesTotal: Int
    }
    type PriceChartSeries {
        market: String!
        currency: String!
        points: [PriceChartPoint!]!
    }
    type PriceChartPoint {
        day: String!
        amount: Float!
        converted: Float
        state: String
    }
    type PriceChartSale {
        at: String!
        amount: Float!
        currency: String!
        converted: Float
    }
    type PricePeriod {
      date: String!
      market: String!
      label: String!
      open: Float!
      low: Float!
      high: Float!
      close: Float!
    }
    type Price {
      market: String!
      label: String!
      price: Float
      currency: String!
      updatedAt: String
      state: String
      confidence: String
      flags: [String!]
      confirmedAt: String
      avg7: Float
      avg30: Float
      low: Float
      high: Float
      costToMove10pct: CostToMove
      change7: Float
      change30: Float
      explain: PriceExplanation
    }
    type PriceExplanation {
      rule: PriceRule
      judgedBy: [PriceRule!]!
      inputs: [PriceExplanationInput!]!
      findings: [PriceFinding!]!
      confirmedByPersonAt: String
      thresholds: PriceThresholds
      rates: [UsedRate!]!
      medians: PriceMedians!
      samples: Int
      conditionKnown: Boolean
      costToMove10pct: CostToMove
      summary: String!
    }
    type CostToMove { amount: Float! currency: String! buyers: Int! sellers: Int! days: Int! rule: CostToMoveRule! }
    type CostToMoveRule { name: String! version: Int! }
    type PriceRule { name: String! version: Int! }
    type PriceExplanationInput {
      kind: String!
      market: String!
      amount: Float!
      currency: String!
      at: String!
      importId: Int
      line: Int
      used: Boolean!
      conditionKnown: Boolean!
      state: String
      flags: [String!]
      reason: String!
      pair: Int
      weight: Int
      comparison: ExplainedComparison
    }
    type ExplainedComparison {
      converted: Float!
      usualRatio: Float!
      usualSpread: Float!
      cards: Int!
      learnedRatio: Float
      expected: Float!
      timesOff: Float!
      level: String!
    }
    type PriceFinding { rule: String! version: Int! market: String compared: Float timesOff: Float counts: Boolean! }
    type PriceThresholds {
      noise: Float!
      ownFactor: Float!
      offerFactor: Float!
      marketFactor: Float!
      marketSpreads: Float!
      conditionFactor: Float!
      doubtFactor: Float!
      agreeFactor: Float!
      comparableDays: Float!
    }
    type UsedRate { currency: String! rate: Float! day: String! }
    type PriceMedians { days7: Float days30: Float days90: Float }
    type Category {
      id: ID!
      name: String!
      slug: String!
      image: String
      parent: Category
      children: [Category!]
      items(first: Int, after: String): ItemConnection
      itemsCount: Int!
    }
    enum Market { SERVICE SOURCE_A SOURCE_B SOURCE_C }
    type PageInfo { hasNextPage: Boolean! endCursor: String }
    type CategoryConnection { nodes: [Category!]! pageInfo: PageInfo! }
    type ItemConnection { nodes: [Item!]! pageInfo: PageInfo! suggestions: [String!] query: String }
    type ItemImage { url: String! order: Int! }
    type ItemGroup { id: ID! name: String! slug: String! }
    type ItemAttribute { name: String! value: String! }
  `
  const promised = buildFromSdl(INTERFACE)
  const types = Object.values(promised.getTypeMap()).filter((type) => !isIntrospectionType(type) && !isScalarType(type))

  test.each(types.map((type) => ({ name: type.name, type })))('$name', ({ name, type }) => {
    const ours = schema.getType(name)
    if (isEnumType(type)) {
      expect(isEnumType(ours) && ours.getValues().map((value) => value.name)).toEqual(type.getValues().map((value) => value.name))
      return
    }
    if (isInputObjectType(type)) {
      const fieldsOf = (of: unknown) =>
        isInputObjectType(of) ? Object.values(of.getFields()).map((field) => `${field.name}: ${String(field.type)}`) : null
      expect(fieldsOf(ours)).toEqual(fieldsOf(type))
      return
    }
    if (!isObjectType(type) || !isObjectType(ours)) throw new Error(`${name} is not an object type`)
    const fields = Object.values(type.getFields())
    expect(Object.keys(ours.getFields()).toSorted()).toEqual(fields.map((field) => field.name).toSorted())
    for (const field of fields) {
      const our = ours.getFields()[field.name]!
      expect(`${field.name}: ${String(our.type)}`).toBe(`${field.name}: ${String(field.type)}`)
      const args = new Map(our.args.map((argument) => [argument.name, String(argument.type)]))
      for (const argument of field.args) expect(args.get(argument.name)).toBe(String(argument.type))
    }
  })
})

test('everything has a description, and gated fields name their plan', () => {
  const without: string[] = []
  const look = (place: string, described: { description?: string | null | undefined }) => {
    if (!described.description) without.push(place)
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue
    look(type.name, type)
    if (isEnumType(type)) for (const value of type.getValues()) look(`${type.name}.${value.name}`, value)
    if (!isObjectType(type) && !isInputObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      look(`${type.name}.${field.name}`, field)
      for (const argument of 'args' in field ? field.args : []) look(`${type.name}.${field.name}(${argument.name})`, argument)
    }
  }
  expect(without).toEqual([])
  const item = schema.getType('Item')
  if (!isObjectType(item)) throw new Error('Item is not an object type')
  const telling = Object.values(item.getFields()).filter((field) => field.description?.includes('Professional and above; null for Starter'))
  expect(telling.map((field) => field.name).toSorted()).toEqual(GRAPHQL_ITEM_FIELDS_FROM_PROFESSIONAL.toSorted())
})
