//! Children of actors.

use super::builder::Builder;
use super::spawn;
use crate::actor::Actor;
use crate::actor::context::Context;
use crate::kin::Kin;
use crate::kin::control::AnyActor;
use crate::kin::peer::Peer;
use crate::mailbox::overflow::Overflow;
use crate::mailbox::{Mailbox, Settings, note};
use crate::refs::actor_ref::ActorRef;
use crate::words::error::SpawnError;
use evenkeel::internal::Public;

/// Children.
impl<A: Actor> Context<A> {
    /// Spawns a child, in the same system. This actor keeps it, and receives
    /// [`Event::ChildEnded`](crate::Event::ChildEnded) when it ends. The child does not outlive
    /// this actor.
    ///
    /// When this actor stops in order, it tells its children to stop after their current message,
    /// the last first. It waits for them before its own [`stopped`](Actor::stopped) runs, and kills
    /// those that take more than 5 seconds. When it fails or is killed, its children are killed. A
    /// child that fails is not restarted: see [`Supervisor`](crate::Supervisor).
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, ActorRef, Context, Event, Handled, spawn};
    ///
    /// struct Worker;
    ///
    /// impl Actor for Worker {
    ///     type Message = u32;
    ///
    ///     async fn handle(&mut self, number: u32, _context: &mut Context<Self>) -> Handled {
    ///         println!("{number}");
    ///         Ok(())
    ///     }
    /// }
    ///
    /// struct Parent {
    ///     worker: Option<ActorRef<u32>>,
    /// }
    ///
    /// impl Actor for Parent {
    ///     type Message = u32;
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         self.worker = Some(context.spawn(Worker));
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, number: u32, _context: &mut Context<Self>) -> Handled {
    ///         if let Some(worker) = &self.worker {
    ///             worker.send(number).await?;
    ///         }
    ///         Ok(())
    ///     }
    ///
    ///     async fn event(&mut self, event: Event, context: &mut Context<Self>) -> Handled {
    ///         if let Event::ChildEnded { .. } = event {
    ///             self.worker = Some(context.spawn(Worker));
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let parent = spawn(Parent { worker: None });
    ///     parent.send(7).await.unwrap();
    ///     parent.stop();
    ///     assert!(parent.stopped().await.is_normal());
    /// });
    /// ```
    #[track_caller]
    pub fn spawn<C: Actor>(&mut self, child: C) -> ActorRef<C::Message> {
        let settings = Builder::new().settings().expect("the default capacity is valid");
        ActorRef::local(self.spawn_child(child, settings))
    }

    /// As [`spawn`](Self::spawn), with the settings of `builder`. The child belongs to this actor's
    /// system, whatever the builder's.
    ///
    /// # Errors
    /// If the capacity is zero or too large.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, ActorRef, Builder, Context, Fail, Handled, Priority, spawn};
    ///
    /// /// Indexes texts in the background, and reports those for which there is no room.
    /// struct Library(Option<ActorRef<String, Fail>>);
    ///
    /// impl Actor for Library {
    ///     type Message = String;
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         let low = Builder::new().capacity(16).priority(Priority::Low).overflow::<Fail>();
    ///         self.0 = Some(context.spawn_with(low, Indexer)?);
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, text: String, _context: &mut Context<Self>) -> Handled {
    ///         if let Some(indexer) = &self.0
    ///             && let Err(error) = indexer.try_send(text)
    ///         {
    ///             eprintln!("not indexed: {error}");
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// struct Indexer;
    ///
    /// impl Actor for Indexer {
    ///     type Message = String;
    ///
    ///     async fn handle(&mut self, _text: String, _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let library = spawn(Library(None));
    ///     library.send("Sailing Alone Around the World".to_owned()).await.unwrap();
    ///     library.stop();
    ///     assert!(library.stopped().await.is_normal());
    /// });
    /// ```
    #[track_caller]
    pub fn spawn_with<C: Actor, P: Overflow>(
        &mut self,
        builder: Builder<P>,
        child: C,
    ) -> Result<ActorRef<C::Message, P>, SpawnError> {
        let settings = builder.settings()?;
        Ok(ActorRef::local(self.spawn_child(child, settings)))
    }

    #[track_caller]
    fn spawn_child<C: Actor>(
        &mut self,
        child: C,
        settings: Settings,
    ) -> Public<Mailbox<C::Message>> {
        let (parent, number) = self.new_child();
        let kin = Kin { parent: parent.map(|parent| (parent, number)), ..Kin::default() };
        let child = spawn::spawn_with(child, settings, self.system(), kin);
        self.adopt(number, AnyActor::new(child.clone()));
        child
    }

    /// Returns the actor's own address, and the number of its next child.
    pub(crate) fn new_child(&self) -> (Option<Peer>, u64) {
        let number = note(self.mailbox(), |kin, _| {
            kin.next_child += 1;
            kin.next_child - 1
        });
        (self.peer(), number.unwrap_or(0))
    }

    /// Keeps a child, unless it has ended meanwhile. Of parent and child, the second to take the
    /// lock finds what the first has done.
    pub(crate) fn adopt(&self, number: u64, child: AnyActor) {
        let kept = child.clone();
        let _ = note(self.mailbox(), |kin, _| kin.children.insert(number, kept));
        if child.is_stopped() {
            let _ = note(self.mailbox(), |kin, _| kin.children.remove(&number));
        }
    }
}
