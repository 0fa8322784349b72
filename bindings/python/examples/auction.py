"""A sealed-bid auction among five: the best bid wins, and pays the second best."""

import symbolon as sy


@sy.function(returns={"winner": sy.u16, "price": sy.u16})
def auction(ann: sy.u16, bob: sy.u16, eve: sy.u16, joe: sy.u16, zoe: sy.u16) -> dict[str, sy.u16]:
    best = ann
    second = winner = ann - ann
    for number, bid in enumerate((bob, eve, joe, zoe), 1):
        wins = bid > best
        second = sy.where(wins, best, sy.maximum(second, bid))
        winner = sy.where(wins, number, winner)
        best = sy.maximum(best, bid)
    return {"winner": winner, "price": second}


def main() -> None:
    result = sy.simulate(auction, ann=120, bob=310, eve=290, joe=55, zoe=200)
    print("party", result["winner"], "wins and pays", result["price"])


if __name__ == "__main__":
    main()
