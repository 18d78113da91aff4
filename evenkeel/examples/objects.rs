//! A directory of inventories: each shop's shelf is an object with a home, and orders travel to the
//! shelves.
//!
//! An order borrows its list of goods while it is at a shelf: the task has travelled there with all
//! its state. Stock-taking awaits inside, so it holds the shelf meanwhile.
//!
//! Source: objects with homes are O2 scheduling (Boyd-Wickizer, Morris, Kaashoek, HotOS 2009);
//! their example is a file system's directories.
//!
//! `cargo run --example objects`

use evenkeel::object::{EnterError, Object, Placement, enter2};
use std::collections::HashMap;
use std::sync::Arc;

/// The stock of a shop, by name.
type Shelf = HashMap<&'static str, u32>;
const GOODS: [&str; 4] = ["apples", "bread", "candles", "dates"];
const SHOPS: usize = 8;
const STOCK: u32 = 100;

/// The stock of one good.
fn of<'a>(shelf: &'a mut Shelf, good: &str) -> &'a mut u32 {
    shelf.get_mut(good).expect("every shop has it, or has had it")
}

struct Directory {
    shelves: Vec<Object<Shelf>>,
}

impl Directory {
    /// Makes fully stocked shops. Their shelves are spread over the workers.
    fn new() -> Self {
        let shelf = |_| {
            let shelf: Shelf = GOODS.into_iter().map(|good| (good, STOCK)).collect();
            Object::new(shelf).placed("shelves", Placement::Home)
        };
        Self { shelves: (0..SHOPS).map(shelf).collect() }
    }

    /// Takes one of each of the goods, or nothing. The closure borrows the list.
    async fn order(&self, shop: usize, goods: &[&str]) -> Result<bool, EnterError> {
        let take = |shelf: &mut Shelf| {
            let has_all = goods.iter().all(|&good| shelf[good] > 0);
            if has_all {
                goods.iter().for_each(|&good| *of(shelf, good) -= 1);
            }
            has_all
        };
        self.shelves[shop].with(take).await
    }

    /// Moves the whole stock of a good from one shop to another.
    async fn transfer(&self, good: &str, from: usize, to: usize) -> Result<(), EnterError> {
        let (mut from, mut to) = enter2(&self.shelves[from], &self.shelves[to]).await?;
        *of(&mut to, good) += std::mem::take(of(&mut from, good));
        Ok(())
    }

    /// Counts a shop's stock, and yields to other tasks after each good; no task can take anything
    /// meanwhile.
    async fn take_stock(&self, shop: usize) -> Result<u32, EnterError> {
        let shelf = self.shelves[shop].enter_held().await?;
        let mut sum = 0;
        for good in GOODS {
            sum += shelf[good];
            evenkeel::yield_now().await;
        }
        assert_eq!(sum, shelf.values().sum(), "no other task has been inside");
        Ok(sum)
    }
}

#[evenkeel::main]
pub(crate) async fn main() {
    let directory = Arc::new(Directory::new());
    let orders: Vec<_> = (0..200)
        .map(|customer: usize| {
            let directory = directory.clone();
            evenkeel::spawn(async move {
                let list = [GOODS[customer % 4], GOODS[(customer + 1) % 4]];
                let mut taken = 0;
                for shop in 0..SHOPS {
                    taken += 2 * u32::from(directory.order(shop, &list).await?);
                }
                if customer.is_multiple_of(50) {
                    directory.transfer(list[0], customer % SHOPS, (customer + 3) % SHOPS).await?;
                    directory.take_stock(customer % SHOPS).await?;
                }
                Ok::<_, EnterError>(taken)
            })
        })
        .collect();
    let mut taken = 0;
    for order in orders {
        taken += order.await.expect("no customer panics").expect("all shelves are whole");
    }
    let mut left = 0;
    for shop in 0..SHOPS {
        left += directory.take_stock(shop).await.expect("all shelves are whole");
    }
    assert_eq!(taken + left, SHOPS as u32 * STOCK * GOODS.len() as u32, "nothing is lost");
    println!("{taken} goods have been taken and {left} are left in {SHOPS} shops");
}
