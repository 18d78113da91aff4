//! sqlx on SQLite: a pool of connections, by `evenkeel-compat`.

use evenkeel::task::JoinSet;
use evenkeel_compat::CompatExt;
use evenkeel_examples::Fault;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions};
use std::time::Duration;

const ACCOUNTS: i64 = 4;
const TASKS: i64 = 8;
const TRANSFERS: i64 = 25;

/// Moves one coin between two accounts, in a transaction.
async fn transfer(pool: &SqlitePool, from: i64, to: i64) -> Result<(), sqlx::Error> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    for (account, change) in [(from, -1), (to, 1)] {
        sqlx::query("UPDATE accounts SET coins = coins + ? WHERE id = ?")
            .bind(change)
            .bind(account)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await
}

/// The whole program needs the context: connections go back to the pool by a task of Tokio.
async fn run() -> Result<i64, Fault> {
    let file = std::env::temp_dir().join(format!("evenkeel-sqlx-{}.db", std::process::id()));
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(Duration::from_secs(30));
    let pool = SqlitePoolOptions::new().max_connections(3).connect_with(options).await?;
    sqlx::query("CREATE TABLE accounts (id INTEGER PRIMARY KEY, coins INTEGER NOT NULL)")
        .execute(&pool)
        .await?;
    for id in 0..ACCOUNTS {
        sqlx::query("INSERT INTO accounts VALUES (?, 100)").bind(id).execute(&pool).await?;
    }

    let mut tasks = JoinSet::new();
    for n in 0..TASKS {
        let pool = pool.clone();
        let task = async move {
            for k in 0..TRANSFERS {
                transfer(&pool, (n + k) % ACCOUNTS, (n + k + 1) % ACCOUNTS).await?;
            }
            Ok::<_, sqlx::Error>(TRANSFERS)
        };
        tasks.spawn(task.compat());
    }
    let mut transfers = 0;
    while let Some(count) = tasks.join_next().await {
        transfers += count??;
    }
    let row = sqlx::query("SELECT sum(coins) FROM accounts").fetch_one(&pool).await?;
    assert_eq!(row.try_get::<i64, _>(0)?, 100 * ACCOUNTS, "no coin is lost");
    // Waits until all connections are back and closed.
    pool.close().await;
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
    Ok(transfers)
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let transfers = run().compat().await?;
    println!("sqlx: {transfers} transfers by {TASKS} tasks on 3 connections; the pool is closed");
    Ok(())
}
